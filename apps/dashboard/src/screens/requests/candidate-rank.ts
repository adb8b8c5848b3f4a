import type { AttemptView } from '@switchyard/core/contracts';

import { count, percent } from '../../parts/format.js';

export type Candidate = AttemptView['candidates'][number];

/** The chosen one, then those that were considered from next best to worst, then the excluded ones. */
export function rankedCandidates({ candidates, chosen }: AttemptView): readonly Candidate[] {
  const place = ({ id, excluded, score }: Candidate): number => (id === chosen ? 0 : excluded !== undefined ? 3 : score === null ? 2 : 1);
  return [...candidates].sort((a, b) => place(a) - place(b) || b.matchBytes - a.matchBytes || a.pressure - b.pressure || a.turn - b.turn);
}

export interface ScoreMeaning {
  readonly heading: string;
  readonly meaning: string;
  readonly show: (score: number) => string;
}

/** What the score of a choice is: each policy orders by something else. */
export function scoreMeaning({ reason, candidates }: AttemptView): ScoreMeaning {
  switch (reason) {
    case 'affinity':
    case 'no_match':
    case 'imbalance':
      return { heading: 'Share', meaning: 'Part of the prompt it was believed to hold', show: percent };
    case 'only_candidate':
      return candidates.some(({ matchBytes }) => matchBytes > 0)
        ? { heading: 'Share', meaning: 'Part of the prompt it was believed to hold', show: percent }
        : general;
    default:
      return general;
  }
}

const general: ScoreMeaning = { heading: 'Score', meaning: 'What the policy ordered by', show: (score) => (Number.isInteger(score) ? count(score) : score.toPrecision(3)) };
