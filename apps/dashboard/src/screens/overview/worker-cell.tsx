import type { WorkerView } from '@switchyard/core/contracts';
import { type JSX, memo } from 'react';
import { Link } from 'wouter';

import { plural, shortEndpoint } from '../../parts/format.js';
import { ToneIcon } from '../../parts/status-badge.js';
import { statusOf } from '../../parts/worker-status.js';
import styles from './worker-cell.module.css';

/** How much room a worker has: crowded pools show less of each. */
export type CellSize = 'large' | 'small' | 'dot';

export interface WorkerCellProps {
  readonly worker: WorkerView;
  readonly size: CellSize;
  /** Load that fills the bar. */
  readonly fullLoad: number;
}

/** Generations of a router without a durable store are long; their ends tell them apart. */
const tailOf = (generation: number): string => (generation < 100_000 ? String(generation) : `…${String(generation).slice(-4)}`);

/** One worker in the picture of its pool; opens its drawer. */
export const WorkerCell = memo(function WorkerCell({ worker, size, fullLoad }: WorkerCellProps): JSX.Element {
  const { id, role, generation, endpoint, load } = worker;
  const status = statusOf(worker);
  const bar = (
    <div className={styles['track']}>
      <div className={styles['bar']} style={{ transform: `scaleX(${Math.min(1, load / fullLoad)})` }} />
    </div>
  );
  return (
    <Link
      className={styles['cell'] ?? ''}
      href={`/workers?worker=${encodeURIComponent(id)}`}
      data-tone={status.tone}
      data-size={size}
      title={`${id} · ${shortEndpoint(endpoint)} · ${status.word} · ${plural(load, 'request')} in flight`}
    >
      {size === 'dot' ? (
        <>
          <span className="sy-hidden">
            {id}, {status.word}, in flight:{' '}
          </span>
          <span className={styles['few']}>
            {status.tone !== 'ready' && <ToneIcon tone={status.tone} size={11} />}
            {load}
          </span>
          {bar}
        </>
      ) : (
        <>
          <div className={styles['top']}>
            <span className={styles['icon']}>
              <ToneIcon tone={status.tone} size={size === 'large' ? 15 : 13} />
            </span>
            <span className={styles['id']}>{size === 'large' ? role : role.charAt(0)}-{tailOf(generation)}</span>
            {size === 'large' && <span className={styles['word']}>{status.word}</span>}
          </div>
          {size === 'large' && <div className={styles['endpoint']}>{shortEndpoint(endpoint)}</div>}
          <div className={styles['load']}>
            {bar}
            <span className={styles['number']}>{load}</span>
          </div>
        </>
      )}
    </Link>
  );
});
