import { mix32 } from './mix32.js';
import { chooseLeastLoaded, onlyCandidate, pressureScores, type Selection } from './placement-order.js';
import { type Policy, type PolicyRequest, type PolicyWorker } from './policy.js';
import { type Hash64, hashText, requestHash } from './request-hash.js';

/**
 * Highest random weight: every worker weighs hash(key, endpoint), the heaviest candidate wins (ties: smaller index).
 * When a worker comes or goes, only its own keys move.
 *
 * The weights of all members are computed in one pass over typed arrays; only when the heaviest is not a candidate
 * are candidates weighed one by one.
 */
export class RendezvousHashPolicy<W extends PolicyWorker> implements Policy<W> {
  readonly name = 'rendezvous_hash';
  #members: W[] = [];
  /** Endpoint hashes of `#members`, in the same order. */
  #lo = new Uint32Array(0);
  #hi = new Uint32Array(0);
  readonly #slots = new Map<W, number>();

  join(worker: W): void {
    if (!this.#slots.has(worker)) this.#install([...this.#members, worker].sort((a, b) => a.index - b.index));
  }

  leave(worker: W): void {
    if (this.#slots.has(worker)) this.#install(this.#members.filter((member) => member !== worker));
  }

  forget(): void {}

  select(candidates: readonly W[], request: PolicyRequest): Selection<W> | undefined {
    const [first] = candidates;
    if (first !== undefined && candidates.length === 1) return onlyCandidate(first, null);
    const key = requestHash(request);
    if (key === null) return chooseLeastLoaded(candidates, 'least_load', pressureScores);
    const heaviest = this.#heaviestMember(key);
    const worker =
      heaviest !== undefined && (candidates.length === this.#members.length || candidates.includes(heaviest))
        ? heaviest
        : this.#heaviestOf(candidates, key);
    if (worker === undefined) return undefined;
    return { worker, reason: 'hash', margin: null, scores: { matchBytes: () => 0, score: (one) => this.#weightOf(one, key) } };
  }

  commit(): null {
    return null;
  }

  #install(members: W[]): void {
    this.#members = members;
    this.#lo = new Uint32Array(members.length);
    this.#hi = new Uint32Array(members.length);
    this.#slots.clear();
    members.forEach((worker, slot) => {
      const hash = hashText(worker.endpoint);
      this.#lo[slot] = hash.lo;
      this.#hi[slot] = hash.hi;
      this.#slots.set(worker, slot);
    });
  }

  #heaviestMember(key: Hash64): W | undefined {
    const lo = this.#lo;
    const hi = this.#hi;
    let best = 0;
    let bestWeight = -1;
    for (let slot = 0; slot < lo.length; slot += 1) {
      const weight = weigh(key.lo, key.hi, lo[slot] ?? 0, hi[slot] ?? 0);
      if (weight > bestWeight) {
        best = slot;
        bestWeight = weight;
      }
    }
    return this.#members[best];
  }

  #heaviestOf(candidates: readonly W[], key: Hash64): W | undefined {
    let best: W | undefined;
    let bestWeight = -1;
    for (const worker of candidates) {
      const weight = this.#weightOf(worker, key);
      if (weight > bestWeight || (weight === bestWeight && best !== undefined && worker.index < best.index)) {
        best = worker;
        bestWeight = weight;
      }
    }
    return best;
  }

  #weightOf(worker: W, key: Hash64): number {
    const slot = this.#slots.get(worker);
    return slot === undefined ? -1 : weigh(key.lo, key.hi, this.#lo[slot] ?? 0, this.#hi[slot] ?? 0);
  }
}

/** 32-bit weight of a worker for a key. Both lanes of both go in: one lane alone would tie workers for ever. */
function weigh(keyLo: number, keyHi: number, workerLo: number, workerHi: number): number {
  return mix32(Math.imul(keyLo ^ workerLo, 0x9e3779b1) + (keyHi ^ workerHi));
}
