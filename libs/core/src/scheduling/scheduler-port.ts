import { type PrefixKey } from '../prompt/prefix-key.js';
import { type ConnectorKind, type LeaseResult, type Phase, type PlacementReason, type Role } from '../words.js';

/**
 * The only way from the data plane to the scheduler. It is asynchronous and speaks ids and plain data, so that the
 * scheduler can live in another process.
 *
 * One `reserve` that grants is one acquire: the grant holds every lease and hold of one attempt, and `end` is its one
 * release, idempotent, on every path. The calls between move the grant from phase to phase.
 */
export interface SchedulerPort {
  /** One placement transaction over all roles the request needs. A grant whose caller is gone must still be ended. */
  reserve(request: ReserveRequest): Promise<ReserveResult>;
  /** The prefill answer is complete and good: its lease ends and its `kvOut` hold begins, in one step. */
  prefillDone(grantId: GrantId, handoff: HandoffFacts): Promise<void>;
  /**
   * Chooses (late binding) or activates (early binding) the decode worker. Its lease begins. `exclude` as for `reserve`.
   *
   * A second call on one grant is legal only with `undelivered`: the outcome of the first decode call, which provably
   * never reached an engine (lifecycle rule 16). Everything else that fails ends the grant.
   */
  beginDecode(grantId: GrantId, exclude: readonly string[], undelivered?: AttemptOutcome): Promise<BeginDecodeResult>;
  /** First body byte of a phase's good answer: confirms affinity; for decode it also ends `kvOut`. */
  firstByte(grantId: GrantId, phase: Phase): Promise<void>;
  /** Ends whatever the grant still holds and reports the attempt, once; later calls do nothing. */
  end(grantId: GrantId, outcome: AttemptOutcome): Promise<void>;
  /**
   * Tells, in the same tick, of grants whose worker must not be called any more. The listener checks its flag
   * synchronously before it writes a request to an engine.
   */
  onRevoked(listener: (revocation: Revocation) => void): void;
  /** Calls `listener` once when a request that was refused as `waitable` could be tried again; returns a cancel. */
  whenSelectable(listener: () => void): () => void;
  /** A request enters (before its first reserve) and leaves (after its last end): the ledger sweep's truth. */
  openRequest(request: OpenRequest): void;
  closeRequest(requestKey: RequestKey, close: RequestClose): void;
}

/** Number of a grant, unique for the scheduler's lifetime. */
export type GrantId = number;

/** Names one request for the scheduler; chosen by the data plane, never used twice. Client ids may repeat. */
export type RequestKey = number;

export interface OpenRequest {
  readonly requestKey: RequestKey;
  /** The id shown to people; not unique. */
  readonly requestId: string;
  readonly route: string;
  readonly model: string | null;
  readonly stream: boolean;
}

export interface RequestClose {
  /** Status sent to the client; `null` when it left before one was sent. */
  readonly status: number | null;
  /** Closed vocabulary: `ok`, `client_gone`, an error code of the router, or `engine_error`. */
  readonly outcome: string;
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number } | null;
  readonly reportedCachedTokens: number | null;
}

export interface ReserveRequest {
  readonly requestKey: RequestKey;
  /** `null` when the request names no model: any worker. */
  readonly model: string | null;
  /** `generation`: prefill/decode pair, else regular. `single`: one worker, regular before decode before prefill. */
  readonly shape: 'generation' | 'single';
  readonly prefixKey: PrefixKey;
  readonly sessionKey: string | null;
  /** Ids of workers that failed this request by themselves. */
  readonly exclude: readonly string[];
  /**
   * Pairs whose decode failed on what prefill had handed over, so that either may be at fault. They are not made again;
   * their decode workers are asked again, with other prefill workers, only when nobody else is left.
   */
  readonly failedPairs: readonly FailedPair[];
}

/** Worker ids. */
export interface FailedPair {
  readonly prefill: string;
  readonly decode: string;
}

/** A chosen worker with the exact addresses it was chosen with. */
export interface PlacedWorker {
  readonly workerId: string;
  readonly role: Role;
  readonly endpoint: string;
  readonly zmqAddress: string | null;
  readonly connector: ConnectorKind;
  readonly reason: PlacementReason;
}

export interface PairGrant {
  readonly kind: 'pair';
  readonly grantId: GrantId;
  readonly prefill: PlacedWorker;
  /** `null` when the connector lets decode be chosen after prefill. */
  readonly decode: PlacedWorker | null;
}

export interface SingleGrant {
  readonly kind: 'single';
  readonly grantId: GrantId;
  readonly worker: PlacedWorker;
}

export interface PoolCounts {
  readonly prefill: { readonly selectable: number; readonly total: number };
  readonly decode: { readonly selectable: number; readonly total: number };
  readonly regular: { readonly selectable: number; readonly total: number };
  /** Pairing groups of the prefill and decode workers, comma-separated; `null` when there are none. */
  readonly group: string | null;
}

export interface Unavailable {
  readonly kind: 'unavailable';
  readonly cause: 'no_available_workers' | 'model_not_found';
  /** Only gated workers stand between the request and a placement: waiting may help. */
  readonly waitable: boolean;
  readonly counts: PoolCounts;
}

export type ReserveResult = PairGrant | SingleGrant | Unavailable;

export interface HandoffFacts {
  /** What the answer proves about the connector; `null` = nothing. */
  readonly connector: ConnectorKind | null;
  /** `remote_engine_id` / `engine_id` of the answer without its `_dp<rank>` suffix; `null` when absent. */
  readonly engineId: string | null;
}

export type BeginDecodeResult =
  | { readonly kind: 'decode'; readonly decode: PlacedWorker }
  /** The hand-off must not be used: end the grant and begin at prefill again. */
  | { readonly kind: 'stale'; readonly cause: 'prefill_departed' | 'decode_departed' | 'handoff_expired' }
  | Unavailable;

/** What became of one attempt, reported exactly once, for all parties: counters, health, receipts, events. */
export interface AttemptOutcome {
  /** The phase in which it ended. */
  readonly phase: Phase;
  readonly result: LeaseResult;
  /** HTTP status of the engine call that ended it; `null` when there was none. */
  readonly status: number | null;
  /** Transport fault of that call. */
  readonly fault: TransportFault | null;
  /** Milliseconds, as measured by the data plane; `null` where the phase was not reached. */
  readonly timings: {
    readonly prefillMs: number | null;
    readonly handoffMs: number | null;
    readonly firstByteMs: number | null;
    /** Mean time between the chunks of a streamed answer; absent where there were none. */
    readonly perChunkMs?: number;
  };
}

export type TransportFault =
  | 'connect_refused'
  | 'connect_timeout'
  | 'reset'
  | 'first_byte_timeout'
  | 'idle_timeout'
  | 'total_timeout'
  | 'invalid_response'
  | 'revoked';

export interface Revocation {
  readonly grantId: GrantId;
  readonly workerId: string;
  /** `departed`: only calls not yet begun are forbidden. `evicted`: running ones are aborted too. */
  readonly cause: 'departed' | 'evicted' | 'drain_deadline';
  readonly abortRunning: boolean;
}
