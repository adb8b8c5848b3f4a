import { Button } from '@mantine/core';
import type { EventView } from '@switchyard/core/contracts';
import { IconArrowUp } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type JSX, type KeyboardEvent, useRef, useState } from 'react';

import { useFillHeight } from '../../parts/fill-height.js';
import { plural } from '../../parts/format.js';
import { EventRow } from './event-row.js';
import styles from './events.module.css';

const usualPx = 36;
/** The stream is held once the newest is out of sight: what one reads does not move. */
const heldFromPx = 40;

export interface EventRowsProps {
  /** Newest first. */
  readonly events: readonly EventView[];
  readonly hasOlder: boolean;
  readonly isReadingOlder: boolean;
  readonly onReadOlder: () => void;
}

/** The stream, of which only the rows in sight are made; older pages are read when their end comes near. */
export function EventRows({ events, hasOlder, isReadingOlder, onReadOlder }: EventRowsProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useFillHeight(box);
  const [heldAt, setHeldAt] = useState<number | null>(null);
  const shown = heldAt === null ? events : events.filter(({ eventSeq }) => eventSeq <= heldAt);
  const newer = events.length - shown.length;
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => usualPx,
    overscan: 10,
    getItemKey: (at) => shown[at]?.eventSeq ?? at,
  });

  const focusRow = (at: number): void => {
    if (at < 0 || at >= shown.length) return;
    virtual.scrollToIndex(at);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-index="${at}"] button`)?.focus());
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = (event.target as HTMLElement).closest<HTMLElement>('[data-index]');
    const at = Number(row?.dataset['index'] ?? -1);
    const to = { j: at + 1, ArrowDown: at + 1, k: at - 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    focusRow(to);
  };

  return (
    <div className={styles['stream']}>
      <div
        ref={box}
        className={styles['scroll']}
        role="region"
        aria-label="Events"
        tabIndex={0}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          setHeldAt((before) => (scrollTop <= heldFromPx ? null : (before ?? events[0]?.eventSeq ?? null)));
          if (hasOlder && !isReadingOlder && scrollHeight - scrollTop - clientHeight < 600) onReadOlder();
        }}
      >
        <ol className={styles['rows']} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ key, index, start }) => {
            const event = shown[index];
            return event === undefined ? null : (
              <li key={key} ref={virtual.measureElement} className={styles['place']} data-index={index} style={{ transform: `translateY(${start}px)` }}>
                <EventRow event={event} />
              </li>
            );
          })}
        </ol>
        <div className={styles['end']}>
          {hasOlder ? (
            <Button variant="default" loading={isReadingOlder} onClick={onReadOlder}>
              Read older events
            </Button>
          ) : (
            'This is where the log begins.'
          )}
        </div>
      </div>
      {newer > 0 && (
        <Button
          className={styles['newer'] ?? ''}
          leftSection={<IconArrowUp size={14} />}
          onClick={() => {
            setHeldAt(null);
            box.current?.scrollTo({ top: 0 });
          }}
        >
          {plural(newer, 'newer event')}
        </Button>
      )}
    </div>
  );
}
