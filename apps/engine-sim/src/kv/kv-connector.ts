import { type SimRole } from '../options.js';
import { type Claim } from './hand-off-store.js';
import { type KvAddress } from './kv-address.js';

/** `single` is an undivided request. */
export type Phase = 'prefill' | 'decode' | 'single';

export type KvParams = Readonly<Record<string, unknown>>;

/** The engine a connector works for. */
export interface KvIdentity {
  readonly role: SimRole;
  readonly engineId: string;
  readonly address: KvAddress;
  readonly addressText: string;
}

/** What a connector sees of a call. */
export interface LegCall {
  /** The call's `X-Request-Id`. */
  readonly requestId: string | null;
  /** The engine's own id of the request, unique in its lifetime. */
  readonly internalId: string;
  readonly params: KvParams | null;
  /** The body as it came: JSON.parse loses digits of 64-bit numbers. */
  readonly bodyText: string;
}

/** What is known of a finished prefill when its hand-off is described. */
export interface IssuedHandOff {
  readonly key: string;
  /** JSON list. */
  readonly blockIds: string;
  readonly nonce: string;
}

/** Whom to ask for the KV blocks of a decode call. */
export interface ClaimTarget {
  readonly host: string;
  readonly port: number;
  readonly claim: Pick<Claim, 'key' | 'engineId' | 'blockIds' | 'nonce'>;
}

/** How one KV connector recognises and checks its calls. The checks throw `Violation`. */
export interface KvConnector {
  /** Whether the prefill answer carries an object that the decode call must bring back. */
  readonly carriesParams: boolean;
  phaseOf(params: KvParams | null): Phase;
  /** Checks what every phase needs. */
  checkAny(call: LegCall): void;
  /** The key under which the hand-off of this prefill is kept. `null`: this engine hands nothing over. */
  checkPrefill(call: LegCall): string | null;
  /** `kv_transfer_params` of the prefill answer, JSON; `null` for none. */
  describe(handOff: IssuedHandOff): string | null;
  /** Where the call's hand-off has to be claimed; `null`: none came, the prompt is computed here. */
  checkDecode(call: LegCall): ClaimTarget | null;
}

/** The phase that the markers of NIXL-style params state. */
export function phaseByMarkers(role: SimRole, params: KvParams | null): Phase {
  if (params?.['do_remote_decode'] === true) return 'prefill';
  if (params?.['do_remote_prefill'] === true || role === 'decode') return 'decode';
  return 'single';
}
