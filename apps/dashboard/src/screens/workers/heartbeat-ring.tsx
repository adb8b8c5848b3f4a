import type { WorkerView } from '@switchyard/core/contracts';
import { type JSX } from 'react';

import { useLive } from '../../live/live-store.js';
import { useSinceArrival } from '../../live/use-now.js';
import { duration } from '../../parts/format.js';
import styles from './worker-table.module.css';

const radius = 6;
const around = 2 * Math.PI * radius;

/** Time since the last heartbeat beside a ring that shrinks to nothing at the end of its lifetime. */
export function HeartbeatRing({ worker }: { readonly worker: WorkerView }): JSX.Element {
  const sinceMs = useSinceArrival(useLive((state) => state.picture?.arrivedMs.get(worker.id) ?? 0));
  const { heartbeatAgeMs, expiresInMs, heartbeat } = worker;
  if (heartbeatAgeMs === null) return <span className="sy-dim">{heartbeat === 'none' ? 'static' : '–'}</span>;
  const ageMs = heartbeatAgeMs + sinceMs;
  const leftMs = expiresInMs === null ? null : Math.max(0, expiresInMs - sinceMs);
  const share = leftMs === null ? 0 : leftMs / (leftMs + ageMs);
  const colour = heartbeat === 'lost' ? 'var(--st-down-fill)' : heartbeat === 'late' ? 'var(--st-late-fill)' : 'var(--st-ready-fill)';
  return (
    <span className={styles['ring']} title={leftMs === null ? undefined : `expires in ${duration(leftMs)}`}>
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden>
        <circle cx="8" cy="8" r={radius} fill="none" stroke="var(--sy-line)" strokeWidth="2.5" />
        <circle
          cx="8"
          cy="8"
          r={radius}
          fill="none"
          stroke={colour}
          strokeWidth="2.5"
          strokeDasharray={`${share * around} ${around}`}
          transform="rotate(-90 8 8)"
        />
      </svg>
      {(ageMs / 1000).toFixed(1)} s
    </span>
  );
}
