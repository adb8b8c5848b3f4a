import { type ConnectorKind, type Role, type SourceKind } from '../words.js';

/** What a source states about (role, endpoint). `null` means the source does not say. */
export interface Registration {
  readonly source: SourceKind;
  readonly role: Role;
  /** Canonical endpoint, see `parseEndpoint`. */
  readonly endpoint: string;
  /** The engine's KV control address as registered, opaque; goes into P2P request ids unchanged. */
  readonly zmqAddress: string | null;
  /** Names the engine process: a changed value proves a new one. */
  readonly instance: string | null;
  /** Pairing group label. */
  readonly group: string | null;
  /** Connector label, or what the address, the transfer mode or a bootstrap port gives away. */
  readonly connector: { readonly kind: ConnectorKind; readonly evidence: 'label' | 'address' | 'bootstrap' } | null;
  /** MoRI-IO transfer mode; `null` for other connectors. */
  readonly transferMode: 'READ' | 'WRITE' | null;
  /** Start of the engine process, Unix seconds. */
  readonly startedAtSecs: number | null;
  /** Models stated by the source (admin); `null` = learn from `/v1/models`. */
  readonly models: readonly string[] | null;
  /** Lifetime without another registration, ms on the listening clock; `null` = until withdrawn. */
  readonly ttlMs: number | null;
}
