import type { EventView, WorkerDetailView } from '@switchyard/core/contracts';
import { type JSX } from 'react';

import { type ListAnswer, useAdmin } from '../../api/queries.js';
import { useLive } from '../../live/live-store.js';
import { useNow } from '../../live/use-now.js';
import { Ago } from '../../parts/ago.js';
import { absolute, clock, count, duration } from '../../parts/format.js';
import { eventSentence } from '../events/event-words.js';
import styles from './worker-drawer.module.css';

/** The lifetimes of its endpoint on one line of time, and as a table. */
export function LifetimesSection({ worker }: { readonly worker: WorkerDetailView }): JSX.Element {
  const { generations, generation: current } = worker;
  const now = useNow();
  const from = Math.min(...generations.map(({ registeredAt }) => Date.parse(registeredAt)), now - 1000);
  const x = (at: number): number => ((at - from) / (now - from)) * 100;
  return (
    <section className={styles['section']} aria-label="Lifetimes">
      <h3>
        Lifetimes of its endpoint <small>{duration(now - from)}</small>
      </h3>
      <svg className={styles['line']} role="img" aria-label={`${generations.length} lifetimes`}>
        <line x1="0" x2="100%" y1="10" y2="10" stroke="var(--sy-line)" strokeWidth="2" />
        {generations.map(({ generation, registeredAt, leftAt }) => {
          const start = x(Date.parse(registeredAt));
          const end = leftAt === null ? 100 : x(Date.parse(leftAt));
          return (
            <rect
              key={generation}
              x={`${start}%`}
              width={`${Math.max(0.6, end - start)}%`}
              y="4"
              height="12"
              rx="2"
              fill={generation === current ? 'var(--sy-ink)' : 'var(--st-drained-fill)'}
              stroke="var(--sy-panel)"
            >
              <title>{`generation ${generation}`}</title>
            </rect>
          );
        })}
        <text x="0" y="31">
          {clock(from)}
        </text>
        <text x="100%" y="31" textAnchor="end">
          now
        </text>
      </svg>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">Gen.</th>
            <th scope="col">Registered</th>
            <th scope="col">Left</th>
            <th scope="col" className={styles['right']}>
              Processed
            </th>
          </tr>
        </thead>
        <tbody>
          {[...generations].reverse().map(({ generation, registeredAt, leftAt, reason, processed, inflight }) => (
            <tr key={generation}>
              <td>{generation === current ? <b>{generation}</b> : generation}</td>
              <td>
                <Ago at={registeredAt} />
              </td>
              <td {...(leftAt === null ? {} : { title: absolute(leftAt) })}>
                {leftAt === null ? 'here' : `${reason ?? 'left'} after ${duration(Date.parse(leftAt) - Date.parse(registeredAt))}`}
                {leftAt !== null && inflight > 0 ? `, ${inflight} still in flight` : ''}
              </td>
              <td className={styles['right']}>{count(processed)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const mostShown = 12;
const none: readonly EventView[] = [];

/** What happened at its endpoint lately, newest first. */
export function WorkerEvents({ worker }: { readonly worker: WorkerDetailView }): JSX.Element {
  const heard = useLive((state) => state.events);
  const earlier = useAdmin<ListAnswer<EventView>>('/api/v1/events?limit=1000').data?.items ?? none;
  const events = [...new Map([...heard, ...earlier].map((event) => [event.eventSeq, event])).values()]
    .filter(({ role, endpoint }) => role === worker.role && endpoint === worker.endpoint)
    .sort((a, b) => b.eventSeq - a.eventSeq)
    .slice(0, mostShown);
  return (
    <section className={styles['section']} aria-label="Recent events">
      <h3>Recent events</h3>
      {events.length === 0 ? (
        <p className="sy-dim" style={{ margin: 0 }}>
          None is kept.
        </p>
      ) : (
        <ul className={styles['events']}>
          {events.map((event) => (
            <li key={event.eventSeq}>
              <span className="sy-dim">
                <Ago at={event.at} coarse />
              </span>
              <b>{event.type}</b>
              <span>{[eventSentence(event), event.reason === undefined || event.reason === event.type ? '' : `“${event.reason}”`].filter(Boolean).join(' ')}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
