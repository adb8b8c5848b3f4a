import { goesBefore, onlyCandidate, pressureScores, type Selection } from './placement-order.js';
import { type Policy, type PolicyWorker } from './policy.js';

/** Of two different candidates drawn at random, the one with the smaller (pressure, turn, index). Stateless, O(1). */
export class PowerOfTwoPolicy<W extends PolicyWorker> implements Policy<W> {
  readonly name = 'power_of_two';
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  join(): void {}

  leave(): void {}

  forget(): void {}

  select(candidates: readonly W[]): Selection<W> | undefined {
    const count = candidates.length;
    const first = Math.floor(this.#random() * count);
    const a = candidates[first];
    if (a === undefined) return undefined;
    if (count === 1) return onlyCandidate(a, pressureScores);
    // Drawn from the others, so that the two always differ and every pair is equally likely.
    const second = (first + 1 + Math.floor(this.#random() * (count - 1))) % count;
    const b = candidates[second] ?? a;
    const [winner, loser] = goesBefore(b, a) ? [b, a] : [a, b];
    return {
      worker: winner,
      reason: 'power_of_two',
      margin: loser.pressure - winner.pressure,
      scores: { matchBytes: () => 0, score: (worker) => (worker === a || worker === b ? worker.pressure : null) },
    };
  }

  commit(): null {
    return null;
  }
}
