import { type ConnectorKind } from '../words.js';

/**
 * The msgpack map that an engine or its announcer sends to the discovery socket, by its wire names.
 *
 * The first three are vLLM's (`p2p_nccl_engine.py`); MoRI-IO adds `transfer_mode`, `dp_size`, `tp_size`, `node_hosts`
 * (`moriio_heartbeat.py`); the rest is Switchyard's own and optional. Receivers leave unknown keys alone.
 */
export interface RegistrationMessage {
  /** `P` prefill, `D` decode. */
  readonly type: 'P' | 'D';
  /** `host:port` of the OpenAI server, without a scheme. */
  readonly http_address: string;
  /** KV control address, opaque to the router: `host:port`, or `host:H,handshake:P,notify:N` of MoRI-IO. */
  readonly zmq_address?: string;
  readonly transfer_mode?: 'READ' | 'WRITE';
  readonly dp_size?: number;
  readonly tp_size?: number;
  readonly node_hosts?: readonly string[];
  /** Names the engine process: a changed value proves a new one. */
  readonly instance?: string;
  readonly connector?: ConnectorKind;
  /** Pairing group label. */
  readonly group?: string;
  /** Start of the engine process, Unix seconds. */
  readonly started_at?: number;
}
