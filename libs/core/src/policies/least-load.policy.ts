import { chooseLeastLoaded, pressureScores, type Selection } from './placement-order.js';
import { type Policy, type PolicyWorker } from './policy.js';

/** The candidate with the smallest (pressure, turn, index). Stateless. */
export class LeastLoadPolicy<W extends PolicyWorker> implements Policy<W> {
  readonly name = 'least_load';

  join(): void {}

  leave(): void {}

  forget(): void {}

  select(candidates: readonly W[]): Selection<W> | undefined {
    return chooseLeastLoaded(candidates, 'least_load', pressureScores);
  }

  commit(): null {
    return null;
  }
}
