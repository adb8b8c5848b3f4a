import { onlyCandidate, type Selection } from './placement-order.js';
import { type Policy, type PolicyWorker } from './policy.js';

/** Every candidate with equal probability. Stateless. */
export class RandomPolicy<W extends PolicyWorker> implements Policy<W> {
  readonly name = 'random';
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  join(): void {}

  leave(): void {}

  forget(): void {}

  select(candidates: readonly W[]): Selection<W> | undefined {
    const worker = candidates[Math.floor(this.#random() * candidates.length)];
    if (worker === undefined) return undefined;
    if (candidates.length === 1) return onlyCandidate(worker, null);
    return { worker, reason: 'random', margin: null, scores: null };
  }

  commit(): null {
    return null;
  }
}
