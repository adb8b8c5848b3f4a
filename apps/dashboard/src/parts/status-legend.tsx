import { type JSX } from 'react';

import { ToneIcon } from './status-badge.js';
import styles from './status-legend.module.css';
import { type StatusTone } from './worker-status.js';

const meanings: readonly { readonly tone: StatusTone; readonly word: string }[] = [
  { tone: 'ready', word: 'ready' },
  { tone: 'late', word: 'late, suspect' },
  { tone: 'down', word: 'down' },
  { tone: 'draining', word: 'draining' },
  { tone: 'drained', word: 'drained' },
  { tone: 'evicted', word: 'evicted, gone' },
];

/** What the colours and icons of workers mean. */
export function StatusLegend(): JSX.Element {
  return (
    <ul className={styles['legend']} aria-label="Legend">
      {meanings.map(({ tone, word }) => (
        <li key={tone} className={styles['item']}>
          <span className={styles['icon']} data-tone={tone}>
            <ToneIcon tone={tone} size={13} />
          </span>
          {word}
        </li>
      ))}
    </ul>
  );
}
