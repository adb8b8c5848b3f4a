import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { RequestView } from '@switchyard/core/contracts';
import { IconArrowUp } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type JSX, type KeyboardEvent, useRef, useState } from 'react';

import { useFillHeight } from '../../parts/fill-height.js';
import { plural } from '../../parts/format.js';
import { RequestRow } from './request-row.js';
import styles from './requests.module.css';

const columns = ['Outcome', 'Came', 'Request', 'Model', 'Workers', 'First byte', 'Total', 'Status'] as const;
/** Rows are held once the first is out of sight: what one reads does not move. */
const heldFromPx = 40;

/** The list, of which only the rows in sight are made. `j`, `k` and the arrows move, Enter opens. */
export function RequestRows({ requests }: { readonly requests: readonly RequestView[] }): JSX.Element {
  const narrow = useMediaQuery('(max-width: 760px)', undefined, { getInitialValueInEffect: false });
  const box = useRef<HTMLDivElement>(null);
  useFillHeight(box);
  const [held, setHeld] = useState<readonly RequestView[] | null>(null);
  const shown = held ?? requests;
  const rowPx = narrow ? 58 : 36;
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    overscan: 12,
    getItemKey: (at) => `${shown[at]?.requestId ?? ''} ${shown[at]?.at ?? ''}`,
  });
  const known = new Set(held?.map(({ requestId }) => requestId));
  const newer = held === null ? 0 : requests.filter(({ requestId }) => !known.has(requestId)).length;

  const focusRow = (at: number): void => {
    if (at < 0 || at >= shown.length) return;
    virtual.scrollToIndex(at);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-at="${at}"] a`)?.focus());
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = (event.target as HTMLElement).closest<HTMLElement>('[data-at]');
    const at = Number(row?.dataset['at'] ?? -1);
    const to = { j: at + 1, ArrowDown: at + 1, k: at - 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    focusRow(to);
  };

  return (
    <div className={styles['table']} role="table" aria-label="Requests" aria-rowcount={shown.length + 1}>
      <div role="rowgroup">
        <div className={styles['columns']} role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <span key={column} role="columnheader">
              {column}
            </span>
          ))}
        </div>
      </div>
      <div
        ref={box}
        className={styles['scroll']}
        role="rowgroup"
        tabIndex={0}
        aria-label="Rows"
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget: { scrollTop } }) => {
          if (scrollTop <= heldFromPx) setHeld(null);
          else setHeld((before) => before ?? requests);
        }}
      >
        <div className={styles['rows']} role="presentation" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ key, index, start }) => {
            const request = shown[index];
            return request === undefined ? null : <RequestRow key={key} request={request} at={index} top={start} height={rowPx} />;
          })}
        </div>
      </div>
      {newer > 0 && (
        <Button
          className={styles['newer'] ?? ''}
          leftSection={<IconArrowUp size={14} />}
          onClick={() => {
            setHeld(null);
            box.current?.scrollTo({ top: 0 });
          }}
        >
          {plural(newer, 'newer request')}
        </Button>
      )}
    </div>
  );
}
