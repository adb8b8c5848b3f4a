import type { PoolView, WorkerView } from '@switchyard/core/contracts';
import { type JSX, useId } from 'react';

import { useLive } from '../../live/live-store.js';
import { useWorkers } from '../../live/use-workers.js';
import { count } from '../../parts/format.js';
import { Panel } from '../../parts/panel.js';
import { StatusLegend } from '../../parts/status-legend.js';
import { HandoffLane } from './handoff-lane.js';
import styles from './pools-picture.module.css';
import { type CellSize, WorkerCell } from './worker-cell.js';

const leastFullLoad = 4;

/** The pools with each worker's load and state, and what flows between them. */
export function PoolsPicture(): JSX.Element | null {
  const workers = useWorkers();
  const pools = useLive((state) => state.picture?.pools);
  if (pools === undefined) return null;
  const of = (role: WorkerView['role']): readonly WorkerView[] => workers.filter((worker) => worker.role === role);
  const hasPairs = pools.prefill.total + pools.decode.total > 0;
  return (
    <Panel title="Cluster" side={<StatusLegend />} flush>
      {hasPairs && (
        <div className={styles['picture']}>
          <Pool name="Prefill" workers={of('prefill')} pool={pools.prefill} />
          <HandoffLane />
          <Pool name="Decode" workers={of('decode')} pool={pools.decode} />
        </div>
      )}
      {pools.regular.total > 0 && (
        <div className={hasPairs ? styles['regular'] : undefined}>
          <Pool name="Regular" workers={of('regular')} pool={pools.regular} />
        </div>
      )}
    </Panel>
  );
}

interface PoolProps {
  readonly name: string;
  readonly workers: readonly WorkerView[];
  readonly pool: PoolView;
}

function Pool({ name, workers, pool }: PoolProps): JSX.Element {
  const id = useId();
  const size = sizeFor(workers.length);
  const fullLoad = Math.max(leastFullLoad, ...workers.map(({ load }) => load));
  return (
    <section className={styles['pool']} aria-labelledby={id}>
      <div className={styles['head']}>
        <h3 className={styles['name']} id={id}>
          {name}
        </h3>
        <span className={styles['facts']} {...(pool.selectable === 0 ? { 'data-bad': true } : {})}>
          {pool.selectable} of {pool.total} selectable
        </span>
        <span className={styles['facts']}>{count(pool.load)} in flight</span>
      </div>
      {workers.length === 0 ? (
        <div className={styles['nobody']}>No {name.toLowerCase()} worker</div>
      ) : (
        <div className={styles['cells']} data-size={size}>
          {workers.map((worker) => (
            <WorkerCell key={worker.id} worker={worker} size={size} fullLoad={fullLoad} />
          ))}
        </div>
      )}
    </section>
  );
}

function sizeFor(workers: number): CellSize {
  if (workers <= 8) return 'large';
  return workers <= 48 ? 'small' : 'dot';
}
