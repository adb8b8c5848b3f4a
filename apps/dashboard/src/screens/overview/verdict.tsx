import type { PoolView } from '@switchyard/core/contracts';
import { type JSX } from 'react';

import { useLive } from '../../live/live-store.js';
import { useWorkers } from '../../live/use-workers.js';
import { ToneIcon } from '../../parts/status-badge.js';
import { type StatusTone } from '../../parts/worker-status.js';
import { type Verdict, verdictOf } from './pairing-groups.js';
import styles from './verdict.module.css';

/** Can the cluster serve now? */
export function VerdictLine(): JSX.Element {
  const verdict = verdictOf(useWorkers());
  const pools = useLive((state) => state.picture?.pools);
  const { tone, text } = wordsOf(verdict);
  return (
    <div className={styles['verdict']} data-tone={tone}>
      <h1 className={styles['word']}>
        <ToneIcon tone={tone} size={18} />
        {text}
      </h1>
      {pools !== undefined && (
        <div className={styles['pools']}>
          <Count name="prefill" pool={pools.prefill} />
          <Count name="decode" pool={pools.decode} />
          <Count name="regular" pool={pools.regular} />
        </div>
      )}
    </div>
  );
}

function Count({ name, pool }: { readonly name: string; readonly pool: PoolView }): JSX.Element | null {
  if (pool.total === 0 && name === 'regular') return null;
  return (
    <span>
      {name}{' '}
      <b>
        {pool.selectable}/{pool.total}
      </b>
    </span>
  );
}

function wordsOf(verdict: Verdict): { readonly tone: StatusTone; readonly text: string } {
  switch (verdict.kind) {
    case 'empty':
      return { tone: 'drained', text: 'No engine has registered yet' };
    case 'serving':
      return { tone: 'ready', text: 'The cluster serves' };
    case 'partly':
      return { tone: 'late', text: `Serves, but not ${verdict.unserved.join(', ')}` };
    case 'down':
      return { tone: 'down', text: `Clients get 503: ${verdict.why}` };
  }
}
