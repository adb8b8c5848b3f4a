import { type AffinityStatistics, type CacheStats, type CacheTreeNode } from './affinity-statistics.js';
import { chooseLeastLoaded, onlyCandidate, type Selection } from './placement-order.js';
import { type PolicyOptions } from './policy-options.js';
import { type AffinityClaim, type CandidateScores, type Policy, type PolicyRequest, type PolicyWorker } from './policy.js';
import { PrefixIndex } from './prefix-index/prefix-index.js';

/** Models with an index at a time; clients can name what they like while an engine's models are not known. */
const maxModels = 256;

/**
 * The worker that holds most of the prompt, unless that is too little or the workers are out of balance; then the one
 * with the smallest (pressure, turn, index).
 *
 * One prefix index a model; every member is a member of all of them.
 */
export class CacheAwarePolicy<W extends PolicyWorker> implements Policy<W>, AffinityStatistics<W> {
  readonly name = 'cache_aware';
  readonly #nowMs: () => number;
  readonly #members = new Set<W>();
  readonly #indexes = new Map<string, PrefixIndex<W>>();
  #options: PolicyOptions;

  constructor(options: PolicyOptions, nowMs: () => number) {
    this.#options = options;
    this.#nowMs = nowMs;
  }

  get affinity(): AffinityStatistics<W> {
    return this;
  }

  get options(): PolicyOptions {
    return this.#options;
  }

  /** Takes effect with the next request; a smaller bound is reached over the next ones. */
  setOptions(options: PolicyOptions): void {
    this.#options = options;
    for (const index of this.#indexes.values()) index.setMaxBytes(options.prefixIndexMaxBytes);
  }

  join(worker: W): void {
    this.#members.add(worker);
  }

  leave(worker: W): void {
    this.forget(worker);
    this.#members.delete(worker);
  }

  forget(worker: W): void {
    for (const index of this.#indexes.values()) index.removeOwner(worker);
  }

  /** Creates the index of a model that a worker is known to serve, before its first request. Idempotent. */
  openModel(model: string): void {
    this.#indexOf(model);
  }

  select(candidates: readonly W[], request: PolicyRequest): Selection<W> | undefined {
    const match = this.#indexes.get(request.model)?.match(request.prefixKey);
    let asked: W | undefined;
    let askedBytes = 0;
    // A receipt asks twice for each candidate, for its bytes and for its score.
    const bytesOf = (worker: W): number => {
      if (match === undefined || worker === asked) return askedBytes;
      asked = worker;
      askedBytes = match.bytesOf(worker);
      return askedBytes;
    };
    const scores: CandidateScores<W> = {
      matchBytes: bytesOf,
      score: (worker) => (match === undefined || match.keyedBytes === 0 ? 0 : bytesOf(worker) / match.keyedBytes),
    };
    const [first] = candidates;
    if (first !== undefined && candidates.length === 1) return onlyCandidate(first, scores);
    if (this.#isImbalanced(candidates)) return chooseLeastLoaded(candidates, 'imbalance', scores);
    const best = match?.best(candidates);
    if (match === undefined || best === undefined || best.bytes / match.keyedBytes <= this.#options.cacheThreshold) {
      return chooseLeastLoaded(candidates, 'no_match', scores);
    }
    return { worker: best.worker, reason: 'affinity', margin: best.bytes - best.runnerUpBytes, scores };
  }

  commit(worker: W, request: PolicyRequest): AffinityClaim | null {
    if (!this.#members.has(worker)) return null;
    return this.#indexOf(request.model).insert(request.prefixKey, worker);
  }

  cacheStats(): readonly CacheStats<W>[] {
    return Array.from(this.#indexes.values(), (index) => index.stats(this.#members));
  }

  cacheTree(model: string, depth: number, limit: number): readonly CacheTreeNode[] {
    return this.#indexes.get(model)?.tree(depth, limit) ?? [];
  }

  coveredBytes(worker: W, model?: string): number {
    if (model !== undefined) return this.#indexes.get(model)?.coveredBytes(worker) ?? 0;
    let bytes = 0;
    for (const index of this.#indexes.values()) bytes += index.coveredBytes(worker);
    return bytes;
  }

  #isImbalanced(candidates: readonly W[]): boolean {
    let least = Infinity;
    let most = -Infinity;
    for (const { pressure } of candidates) {
      if (pressure < least) least = pressure;
      if (pressure > most) most = pressure;
    }
    return most - least > this.#options.balanceAbsThreshold && most > least * this.#options.balanceRelThreshold;
  }

  #indexOf(model: string): PrefixIndex<W> {
    const known = this.#indexes.get(model);
    if (known !== undefined) return known;
    if (this.#indexes.size >= maxModels) this.#dropStalestIndex();
    const index = new PrefixIndex<W>(model, this.#options.prefixIndexMaxBytes, this.#nowMs);
    this.#indexes.set(model, index);
    return index;
  }

  #dropStalestIndex(): void {
    let stalest: PrefixIndex<W> | undefined;
    for (const index of this.#indexes.values()) if (stalest === undefined || index.usedAtMs < stalest.usedAtMs) stalest = index;
    if (stalest !== undefined) this.#indexes.delete(stalest.model);
  }
}
