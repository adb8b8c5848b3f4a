import { chooseLeastLoaded, onlyCandidate, pressureScores, type Selection } from './placement-order.js';
import { type Policy, type PolicyRequest, type PolicyWorker } from './policy.js';
import { hashText, requestHash } from './request-hash.js';

const virtualNodes = 160;

interface RingPoint<W> {
  readonly position: number;
  readonly worker: W;
}

/**
 * A ring with 160 points a worker, keyed by endpoint. A request goes to the first point at or after its hash whose
 * worker is a candidate, so that the keys of a missing worker spread over all others.
 *
 * `join` and `leave` cost O(points); `select` O(log points) while the owner of the key is a candidate.
 */
export class ConsistentHashPolicy<W extends PolicyWorker> implements Policy<W> {
  readonly name = 'consistent_hash';
  readonly #members = new Set<W>();
  #ring: readonly RingPoint<W>[] = [];

  join(worker: W): void {
    if (this.#members.has(worker)) return;
    this.#members.add(worker);
    const points = Array.from({ length: virtualNodes }, (_, i) => ({ position: hashText(`${worker.endpoint}:${i}`).lo, worker }));
    // Equal positions are ordered by endpoint: the order of joining must not move keys.
    this.#ring = [...this.#ring, ...points].sort(
      (a, b) => a.position - b.position || (a.worker.endpoint < b.worker.endpoint ? -1 : a.worker.endpoint > b.worker.endpoint ? 1 : 0),
    );
  }

  leave(worker: W): void {
    if (!this.#members.delete(worker)) return;
    this.#ring = this.#ring.filter((point) => point.worker !== worker);
  }

  forget(): void {}

  select(candidates: readonly W[], request: PolicyRequest): Selection<W> | undefined {
    const [first] = candidates;
    if (first !== undefined && candidates.length === 1) return onlyCandidate(first, null);
    const hash = requestHash(request);
    if (hash === null) return chooseLeastLoaded(candidates, 'least_load', pressureScores);
    const worker = this.#firstAtOrAfter(hash.lo, candidates);
    if (worker === undefined) return undefined;
    return { worker, reason: 'hash', margin: null, scores: null };
  }

  commit(): null {
    return null;
  }

  #firstAtOrAfter(hash: number, candidates: readonly W[]): W | undefined {
    const ring = this.#ring;
    const start = this.#search(hash);
    const owner = (ring[start] ?? ring[0])?.worker;
    if (owner === undefined || candidates.length === this.#members.size || candidates.includes(owner)) return owner;
    const allowed = new Set(candidates);
    for (let i = 1; i < ring.length; i += 1) {
      const worker = ring[(start + i) % ring.length]?.worker;
      if (worker !== undefined && allowed.has(worker)) return worker;
    }
    return undefined;
  }

  /** Subscript of the first point at or after `hash`, the ring's length when there is none. */
  #search(hash: number): number {
    let low = 0;
    let high = this.#ring.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ring[middle]?.position ?? 0) < hash) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
