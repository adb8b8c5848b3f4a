import { onlyCandidate, type Selection } from './placement-order.js';
import { type Policy, type PolicyWorker } from './policy.js';

/**
 * The candidate picked longest ago; those never picked first, in index order.
 *
 * On a stable set this is the rotation by index. On an unstable one it stays fair where a counter or a cursor does
 * not: between two picks of a worker that is a candidate throughout, no other worker is picked twice.
 */
export class RoundRobinPolicy<W extends PolicyWorker> implements Policy<W> {
  readonly name = 'round_robin';
  /** Number of the last pick of each member that was ever picked. */
  readonly #lastPick = new Map<W, number>();
  #picks = 0;

  join(): void {}

  leave(worker: W): void {
    this.#lastPick.delete(worker);
  }

  forget(): void {}

  select(candidates: readonly W[]): Selection<W> | undefined {
    let best: W | undefined;
    let bestPick = 0;
    for (const worker of candidates) {
      const pick = this.#lastPick.get(worker) ?? 0;
      if (best === undefined || pick < bestPick || (pick === bestPick && worker.index < best.index)) {
        best = worker;
        bestPick = pick;
      }
    }
    if (best === undefined) return undefined;
    if (candidates.length === 1) return onlyCandidate(best, null);
    return { worker: best, reason: 'round_robin', margin: null, scores: null };
  }

  commit(worker: W): null {
    this.#picks += 1;
    this.#lastPick.set(worker, this.#picks);
    return null;
  }
}
