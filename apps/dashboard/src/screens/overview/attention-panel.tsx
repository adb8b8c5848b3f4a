import type { EventView } from '@switchyard/core/contracts';
import { type JSX, useMemo } from 'react';
import { Link } from 'wouter';

import { type ListAnswer, useAdmin } from '../../api/queries.js';
import { useLive } from '../../live/live-store.js';
import { useNow } from '../../live/use-now.js';
import { useWorkers } from '../../live/use-workers.js';
import { Panel } from '../../parts/panel.js';
import { ToneIcon } from '../../parts/status-badge.js';
import { type Attention, attentionOf } from './attention.js';
import styles from './attention-panel.module.css';

const none: readonly never[] = [];

/** What is unhealthy or odd, in plain sentences. */
export function AttentionPanel(): JSX.Element {
  const workers = useWorkers();
  const arrived = useLive((state) => state.picture?.arrivedMs);
  const handoffs = useLive((state) => state.picture?.handoffs ?? none);
  const heard = useLive((state) => state.events);
  const isLive = useLive((state) => state.link.phase === 'live');
  const earlier = useAdmin<ListAnswer<EventView>>('/api/v1/events?type=replaced&limit=20').data?.items ?? none;
  const events = useMemo(() => distinctEvents([...heard, ...earlier]), [heard, earlier]);
  const nowMs = useNow();

  const items = attentionOf({
    workers,
    handoffs,
    events,
    nowMs,
    sinceArrivalMs: (id) => (isLive ? performance.now() - (arrived?.get(id) ?? performance.now()) : 0),
  });
  return (
    <Panel title="Needs attention" note={items.length === 0 ? undefined : items.length} flush>
      {items.length === 0 ? (
        <div className={styles['calm']} data-tone="ready">
          <span className={styles['icon']} data-tone="ready">
            <ToneIcon tone="ready" size={16} />
          </span>
          Nothing is unhealthy or odd.
        </div>
      ) : (
        <ul className={styles['list']} tabIndex={0} aria-label="Needs attention">
          {items.map((item) => (
            <li key={item.key}>
              <Sentence item={item} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Sentence({ item }: { readonly item: Attention }): JSX.Element {
  const inside = (
    <>
      <span className={styles['icon']} data-tone={item.tone}>
        <ToneIcon tone={item.tone} size={15} />
      </span>
      <span className={styles['text']}>{item.text}</span>
    </>
  );
  if (item.workerId === undefined) return <div className={styles['item']}>{inside}</div>;
  return (
    <Link className={styles['item'] ?? ''} href={`/workers?worker=${encodeURIComponent(item.workerId)}`}>
      {inside}
    </Link>
  );
}

function distinctEvents(events: readonly EventView[]): readonly EventView[] {
  return [...new Map(events.map((event) => [event.eventSeq, event])).values()];
}
