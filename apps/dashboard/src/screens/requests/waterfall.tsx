import { type JSX } from 'react';

import { duration, percent } from '../../parts/format.js';
import { niceTicks } from './nice-ticks.js';
import { type StepKind, type WaterfallStep } from './waterfall-steps.js';
import styles from './waterfall.module.css';

/** Waiting is drawn lighter than work. */
const explains: Readonly<Record<StepKind, string>> = {
  queue: 'until a worker was chosen',
  prefill: 'an engine reads the prompt',
  handoff: 'until decode is called',
  first: 'until the first byte of the answer',
  stream: 'the answer, until its end',
};

/** The steps of a request on one time line, a row each. */
export function Waterfall({ steps }: { readonly steps: readonly WaterfallStep[] }): JSX.Element {
  const last = steps.at(-1);
  const totalMs = Math.max(0.001, last === undefined ? 0 : last.startMs + last.lengthMs);
  const { ticks, endMs } = niceTicks(totalMs);
  return (
    <div className={styles['waterfall']}>
      <ol className={styles['steps']}>
        {steps.map(({ kind, label, startMs, lengthMs, running }) => (
          <li key={kind} className={styles['step']}>
            <span className={styles['label']} title={explains[kind]}>
              {label}
            </span>
            <span className={styles['track']} aria-hidden>
              {ticks.map((tick) => (
                <span key={tick} className={styles['line']} style={{ left: `${(100 * tick) / endMs}%` }} />
              ))}
              <span
                className={styles['bar']}
                data-kind={kind}
                data-running={running || undefined}
                style={{ left: `${(100 * startMs) / endMs}%`, width: `max(2px, ${(100 * lengthMs) / endMs}%)` }}
              />
            </span>
            <span className={styles['time']}>
              {duration(lengthMs)}
              {running && ' …'}
            </span>
            <span className={styles['share']}>{shareWords(lengthMs / totalMs)}</span>
          </li>
        ))}
      </ol>
      <div className={styles['axis']} aria-hidden>
        {ticks.map((tick) => (
          <span key={tick} style={{ left: `${(100 * tick) / endMs}%` }}>
            {tick === 0 ? '0' : duration(tick)}
          </span>
        ))}
      </div>
    </div>
  );
}

/** Whole percents: the length beside it is exact. */
const shareWords = (share: number): string => (share > 0 && share < 0.005 ? '< 1 %' : percent(Math.round(share * 100) / 100));
