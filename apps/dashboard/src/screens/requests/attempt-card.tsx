import type { AttemptView } from '@switchyard/core/contracts';
import { type JSX } from 'react';

import { Tag } from '../../parts/mark.js';
import { CandidateTable } from './candidate-table.js';
import { OutcomeMark } from './outcome-mark.js';
import styles from './receipt.module.css';
import { attemptOutcomeOf, choiceSentence, reasonWords } from './receipt-words.js';

const phaseNames = { prefill: 'Prefill', decode: 'Decode', single: 'Prefill and decode' } as const;

export interface AttemptCardProps {
  readonly attempt: AttemptView;
  readonly number: number;
}

/** One choice: who was chosen, from whom, and why. */
export function AttemptCard({ attempt, number }: AttemptCardProps): JSX.Element {
  const { phase, chosen, reason, outcome, candidates } = attempt;
  return (
    <section className={styles['attempt']} aria-label={`Attempt ${number}: ${phaseNames[phase]} on ${chosen}`}>
      <header className={styles['attemptHead']}>
        <span className={styles['number']} aria-hidden>
          {number}
        </span>
        <h3 className={styles['attemptTitle']}>
          {phaseNames[phase]} on <span className="sy-mono">{chosen}</span>
        </h3>
        <Tag title="Why this worker">{reasonWords(reason)}</Tag>
        <span className={styles['attemptOutcome']}>
          <OutcomeMark outcome={attemptOutcomeOf(outcome)} />
        </span>
      </header>
      <p className={styles['sentence']}>{choiceSentence(attempt)}</p>
      {candidates.length === 0 ? <p className={styles['none']}>The candidates of this choice are not kept any more.</p> : <CandidateTable attempt={attempt} />}
    </section>
  );
}
