import type { AttemptView } from '@switchyard/core/contracts';

import { rankedCandidates, scoreMeaning } from './candidate-rank.js';

const candidate = (id: string, fields: Partial<AttemptView['candidates'][number]> = {}): AttemptView['candidates'][number] => ({
  id,
  load: 0,
  pressure: 0,
  turn: 0,
  processed: 0,
  matchBytes: 0,
  score: 0,
  ...fields,
});

describe('candidates', () => {
  const attempt: AttemptView = {
    phase: 'decode',
    chosen: 'chosen',
    reason: 'affinity',
    margin: null,
    outcome: null,
    candidates: [
      candidate('excluded', { excluded: 'draining', matchBytes: 999 }),
      candidate('busy', { pressure: 3 }),
      candidate('not drawn', { score: null }),
      candidate('idle'),
      candidate('match', { matchBytes: 5, pressure: 9 }),
      candidate('chosen', { pressure: 99 }),
    ],
  };

  it('are ranked: chosen, then by match and pressure, then those without a score, then the excluded', () => {
    expect(rankedCandidates(attempt).map(({ id }) => id)).toEqual(['chosen', 'match', 'idle', 'busy', 'not drawn', 'excluded']);
  });

  it('are scored in what the policy ordered by', () => {
    expect(scoreMeaning(attempt).show(0.5)).toBe('50 %');
    expect(scoreMeaning({ ...attempt, reason: 'power_of_two' }).show(3)).toBe('3');
    expect(scoreMeaning({ ...attempt, reason: 'hash' }).show(0.123456)).toBe('0.123');
  });
});
