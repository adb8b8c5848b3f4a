import type { WorkerView } from '@switchyard/core/contracts';
import { type JSX } from 'react';
import { IconArrowsUpDown } from '@tabler/icons-react';

import { useWorkerDetail } from '../../api/queries.js';
import { drainWords } from '../../parts/drain-words.js';
import { duration, plural, shortEndpoint } from '../../parts/format.js';
import { ledgerOf } from '../../parts/load-ledger.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { statusOf } from '../../parts/worker-status.js';
import styles from './worker-table.module.css';

/** The one derived status; a drain counts down beside it. */
export function StateCell({ worker, isBare }: { readonly worker: WorkerView; readonly isBare: boolean }): JSX.Element {
  return (
    <span className={styles['state']}>
      <StatusBadge status={statusOf(worker)} />
      {worker.adminState !== 'ready' && !isBare && <DrainProgress worker={worker} />}
    </span>
  );
}

function DrainProgress({ worker }: { readonly worker: WorkerView }): JSX.Element {
  const isDraining = worker.adminState === 'draining';
  const oldestMs = useOldest(worker.id, isDraining && worker.load > 0);
  const words = drainWords(worker, oldestMs) ?? '';
  return (
    <span className={styles['progress']} title={words}>
      {words}
    </span>
  );
}

function useOldest(id: string, enabled: boolean): number | null {
  const detail = useWorkerDetail(id, { enabled, everyMs: 2000 }).data;
  if (!enabled || detail === undefined || detail.inflight.length === 0) return null;
  return Math.max(...detail.inflight.map(({ ageMs }) => ageMs));
}

/** Its name, and whether it comes and goes too often. */
export function NameCell({ worker, isTwoLine }: { readonly worker: WorkerView; readonly isTwoLine: boolean }): JSX.Element {
  const name = <Name worker={worker} />;
  if (!isTwoLine) return name;
  return (
    <span className={styles['two']}>
      {name}
      <span className={styles['second']}>{worker.adminState === 'ready' ? shortEndpoint(worker.endpoint) : <DrainProgress worker={worker} />}</span>
    </span>
  );
}

function Name({ worker: { id, flaps } }: { readonly worker: WorkerView }): JSX.Element {
  return (
    <span className={styles['name']}>
      {id}
      {flaps.flapping && (
        <span className={styles['flapping']} data-tone="late" title={`${plural(flaps.joinsLastHour, 'join')}, ${plural(flaps.leavesLastHour, 'leave')} in the last hour`}>
          <IconArrowsUpDown size={12} aria-hidden /> flapping
        </span>
      )}
    </span>
  );
}

export function LoadCell({ worker, fullLoad }: { readonly worker: WorkerView; readonly fullLoad: number }): JSX.Element {
  return (
    <span className={styles['load']}>
      <span className={styles['track']}>
        <span className={styles['bar']} style={{ transform: `scaleX(${Math.min(1, worker.load / fullLoad)})` }} />
      </span>
      <b>{worker.load}</b>
    </span>
  );
}

/** What the engine says of itself, beside the load column; more drift than moments explain is marked. */
export function EngineCell({ worker }: { readonly worker: WorkerView }): JSX.Element {
  const ledger = ledgerOf(worker);
  if (ledger === null) return <span className="sy-dim">–</span>;
  const { running, waiting, drift, isDrifting, ageMs } = ledger;
  return (
    <span
      className={isDrifting ? styles['drift'] : undefined}
      data-tone="late"
      title={`router ${worker.load}, engine ${running} running and ${waiting} waiting, ${duration(ageMs)} old`}
    >
      {running} + {waiting}
      {isDrifting && ` (${drift > 0 ? '+' : '−'}${Math.abs(drift)})`} <span className="sy-dim">{ageMs < 1000 ? 'now' : `${duration(Math.round(ageMs / 1000) * 1000).replace('.0', '')} old`}</span>
    </span>
  );
}

const healthTone: Readonly<Record<WorkerView['health'], string>> = { healthy: 'ready', unknown: 'drained', suspect: 'late', unhealthy: 'down' };
const circuitTone: Readonly<Record<WorkerView['circuit'], string>> = { closed: 'ready', half_open: 'late', open: 'down' };

/** A plain word that takes colour only when it is not the good one. */
export function HealthCell({ worker: { health } }: { readonly worker: WorkerView }): JSX.Element {
  return <Word tone={healthTone[health]}>{health}</Word>;
}

export function CircuitCell({ worker: { circuit } }: { readonly worker: WorkerView }): JSX.Element {
  return <Word tone={circuitTone[circuit]}>{circuit.replace('_', ' ')}</Word>;
}

function Word({ tone, children }: { readonly tone: string; readonly children: string }): JSX.Element {
  return (
    <span className={styles['word']} data-tone={tone}>
      {children}
    </span>
  );
}
