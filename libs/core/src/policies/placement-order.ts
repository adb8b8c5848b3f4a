import { type CandidateScores, type PolicyChoice, type PolicyWorker } from './policy.js';
import { type PlacementReason } from '../words.js';

/** What a policy's `select` returns. */
export type Selection<W extends PolicyWorker> = PolicyChoice<W> & { readonly scores: CandidateScores<W> | null };

/** Scores of policies that order candidates by pressure. */
export const pressureScores: CandidateScores<PolicyWorker> = {
  matchBytes: () => 0,
  score: (worker) => worker.pressure,
};

/** True when `a` goes before `b` in the order every tie breaks by: (pressure, turn, index), smaller first. */
export function goesBefore(a: PolicyWorker, b: PolicyWorker): boolean {
  if (a.pressure !== b.pressure) return a.pressure < b.pressure;
  if (a.turn !== b.turn) return a.turn < b.turn;
  return a.index < b.index;
}

/**
 * Chooses the candidate that goes first by (pressure, turn, index); the margin is the pressure by which the next
 * one is behind. O(candidates). `undefined` when there are none.
 */
export function chooseLeastLoaded<W extends PolicyWorker>(
  candidates: readonly W[],
  reason: PlacementReason,
  scores: CandidateScores<NoInfer<W>> | null,
): Selection<W> | undefined {
  let best: W | undefined;
  let secondPressure = Infinity;
  for (const worker of candidates) {
    if (best === undefined) {
      best = worker;
    } else if (goesBefore(worker, best)) {
      secondPressure = best.pressure;
      best = worker;
    } else if (worker.pressure < secondPressure) {
      secondPressure = worker.pressure;
    }
  }
  if (best === undefined) return undefined;
  if (candidates.length === 1) return onlyCandidate(best, scores);
  return { worker: best, reason, margin: secondPressure - best.pressure, scores };
}

/** The choice where there is none to make. */
export function onlyCandidate<W extends PolicyWorker>(worker: W, scores: CandidateScores<NoInfer<W>> | null): Selection<W> {
  return { worker, reason: 'only_candidate', margin: null, scores };
}
