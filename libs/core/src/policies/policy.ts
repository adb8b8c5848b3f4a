import { type PrefixKey } from '../prompt/prefix-key.js';
import { type AffinityStatistics } from './affinity-statistics.js';
import { type PolicyOptions } from './policy-options.js';
import { type PlacementReason, type PolicyName } from '../words.js';

/** What a policy may know of a worker. The object is the identity: one per (role, endpoint, generation). */
export interface PolicyWorker {
  readonly id: string;
  /** Canonical endpoint; the stable name that hash policies use, so that a restart keeps its keys. */
  readonly endpoint: string;
  /** Leases + bound holds, now. */
  readonly pressure: number;
  /** Virtual time of picks; smaller has had its turn longer ago. */
  readonly turn: number;
  /** Order of joining, unique in the pool. */
  readonly index: number;
}

/** What of a request a policy decides by. */
export interface PolicyRequest {
  /** Model name; the prefix index and sessions are kept per model. `''` when the request names none. */
  readonly model: string;
  readonly prefixKey: PrefixKey;
  /** Session key of hash and sticky policies; `null` when the request carries none. */
  readonly sessionKey: string | null;
}

/**
 * A tentative claim that the chosen worker holds the prompt's prefix. It ends exactly once, by either method;
 * later calls do nothing, also after the worker has left.
 */
export interface AffinityClaim {
  /** The engine has shown that it works on the prompt: ownership stays. */
  confirm(): void;
  /** It has not: what nobody else confirmed is withdrawn. */
  withdraw(): void;
}

export interface PolicyChoice<W extends PolicyWorker> {
  readonly worker: W;
  readonly reason: PlacementReason;
  /**
   * By how much the choice won: bytes of prefix match for affinity, pressure for load decisions; `null` where there is
   * no such thing (random, round robin, only candidate).
   */
  readonly margin: number | null;
}

/** Receives what a policy knew of each candidate; called only when a receipt is being written. */
export interface CandidateScores<W extends PolicyWorker> {
  /** Bytes of the prompt's prefix that `worker` is believed to hold; 0 when unknown. */
  matchBytes(worker: W): number;
  /** The number the policy ordered candidates by; `null` when it does not score. */
  score(worker: W): number | null;
}

/**
 * A way of choosing one of several workers. Synchronous, deterministic given its injected randomness and clock.
 *
 * `select` decides and changes nothing that a caller can see (drawing random numbers aside); `commit` makes the
 * choice count. Both run in one placement transaction, so no other request comes between them.
 */
export interface Policy<W extends PolicyWorker = PolicyWorker> {
  readonly name: PolicyName;
  /** What it tells of its prefix index; absent where it keeps none. */
  readonly affinity?: AffinityStatistics<W>;
  /** Makes `worker` a member; it may appear among candidates from now on. Idempotent. */
  join(worker: W): void;
  /** Ends membership and all affinity of `worker`, at once. Idempotent. */
  leave(worker: W): void;
  /** Forgets all affinity of `worker` but keeps it a member (its engine may have lost its cache). */
  forget(worker: W): void;
  /**
   * Chooses among `candidates` (members, distinct, in pool order); `undefined` when there are none.
   * The returned scores are valid until the next call.
   */
  select(candidates: readonly W[], request: PolicyRequest): (PolicyChoice<W> & { readonly scores: CandidateScores<W> | null }) | undefined;
  /** Counts the choice: cursors advance, sessions bind, the prefix is inserted tentatively. `null` = no claim. */
  commit(worker: W, request: PolicyRequest): AffinityClaim | null;
  /** Lets it know a model before its first request; absent where nothing is kept per model. Idempotent. */
  openModel?(model: string): void;
  /** Takes changed options while it runs; absent where a policy has none. */
  setOptions?(options: PolicyOptions): void;
}
