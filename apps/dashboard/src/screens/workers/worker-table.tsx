import type { WorkerView } from '@switchyard/core/contracts';
import { Checkbox } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type JSX, type KeyboardEvent, memo, useEffect, useRef } from 'react';

import { type WorkerColumn } from './worker-columns.js';
import styles from './worker-table.module.css';
import { type WorkerTableModel } from './worker-table-model.js';

const pickPx = 34;
/** Padding of a row. */
const edgePx = 12;
const rowPx = { one: 34, two: 48 } as const;

export interface WorkerTableProps {
  readonly model: WorkerTableModel;
  readonly picked: ReadonlySet<string>;
  readonly canPick: boolean;
  /** The row that has, or last had, the focus. */
  readonly activeId: string | null;
  /** Moves the focus to the active row when it counts up. */
  readonly focusRequest: number;
  readonly onPick: (id: string, picked: boolean) => void;
  readonly onPickAll: (picked: boolean) => void;
  readonly onActive: (id: string) => void;
  readonly onOpen: (id: string) => void;
}

/** Virtual rows over the sorted model; only rows whose worker changed are drawn again. */
export function WorkerTable({ model, picked, canPick, activeId, focusRequest, onPick, onPickAll, onActive, onOpen }: WorkerTableProps): JSX.Element {
  const { rows, columns, headers, fullLoads, isNarrow } = model;
  const heightPx = isNarrow ? rowPx.two : rowPx.one;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => heightPx,
    getItemKey: (at) => rows[at]?.id ?? at,
    overscan: 6,
  });
  useEffect(() => {
    virtual.measure();
  }, [virtual, heightPx]);
  const template = canPick ? `${pickPx}px ${model.template}` : model.template;
  const activeIndex = rows.findIndex(({ id }) => id === activeId);

  useEffect(() => {
    if (focusRequest === 0 || activeIndex < 0) return;
    virtual.scrollToIndex(activeIndex);
    requestAnimationFrame(() => {
      scroller.current?.querySelector<HTMLElement>('[data-active]')?.focus({ preventScroll: true });
    });
    // Only a new request moves the focus, not a row that changes its place.
  }, [focusRequest]);

  const allPicked = rows.length > 0 && rows.every(({ id }) => picked.has(id));
  return (
    <div ref={scroller} className={styles['scroll']}>
      <div role="grid" aria-label="Workers" aria-rowcount={rows.length + 1} aria-multiselectable={canPick} className={styles['grid']} style={{ minWidth: model.leastPx + (canPick ? pickPx : 0) + edgePx }}>
        <div role="row" aria-rowindex={1} className={`${styles['row'] ?? ''} ${styles['header'] ?? ''}`} style={{ gridTemplateColumns: template }}>
          {canPick && (
            <div role="columnheader" className={styles['cell']}>
              <Checkbox
                size="xs"
                aria-label="Select all shown"
                checked={allPicked}
                indeterminate={!allPicked && rows.some(({ id }) => picked.has(id))}
                onChange={({ currentTarget }) => onPickAll(currentTarget.checked)}
              />
            </div>
          )}
          {headers.map(({ column, sorted, toggle }) => (
            <div
              key={column.id}
              role="columnheader"
              className={styles['cell']}
              data-align={column.align}
              aria-sort={sorted === false ? 'none' : sorted === 'asc' ? 'ascending' : 'descending'}
            >
              <button type="button" className={styles['sort']} onClick={toggle}>
                {column.name}
                {sorted === 'asc' && <IconArrowUp size={12} aria-hidden />}
                {sorted === 'desc' && <IconArrowDown size={12} aria-hidden />}
              </button>
            </div>
          ))}
        </div>
        <div role="rowgroup" className={styles['body']} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <WorkerRow
                key={row.id}
                worker={row}
                columns={columns}
                template={template}
                index={index}
                startPx={start}
                fullLoad={fullLoads[row.role]}
                isNarrow={isNarrow}
                heightPx={heightPx}
                isPicked={picked.has(row.id)}
                canPick={canPick}
                isActive={index === (activeIndex < 0 ? 0 : activeIndex)}
                onPick={onPick}
                onActive={onActive}
                onOpen={onOpen}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface WorkerRowProps extends Pick<WorkerTableProps, 'canPick' | 'onPick' | 'onActive' | 'onOpen'> {
  readonly worker: WorkerView;
  readonly columns: readonly WorkerColumn[];
  readonly template: string;
  readonly index: number;
  readonly startPx: number;
  readonly fullLoad: number;
  readonly isNarrow: boolean;
  readonly heightPx: number;
  readonly isPicked: boolean;
  readonly isActive: boolean;
}

const WorkerRow = memo(function WorkerRow(props: WorkerRowProps): JSX.Element {
  const { worker, columns, template, index, startPx, fullLoad, isNarrow, heightPx, isPicked, canPick, isActive, onPick, onActive, onOpen } = props;
  const { id } = worker;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.target !== event.currentTarget) return;
    event.preventDefault();
    onOpen(id);
  };
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={canPick ? isPicked : undefined}
      aria-label={id}
      tabIndex={isActive ? 0 : -1}
      className={`${styles['row'] ?? ''} ${styles['line'] ?? ''}`}
      style={{ gridTemplateColumns: template, height: heightPx, transform: `translateY(${startPx}px)` }}
      data-worker={id}
      {...(isPicked ? { 'data-picked': true } : {})}
      {...(isActive ? { 'data-active': true } : {})}
      onFocus={() => onActive(id)}
      onClick={() => onOpen(id)}
      onKeyDown={onKeyDown}
    >
      {canPick && (
        <div role="gridcell" className={styles['cell']} onClick={(event) => event.stopPropagation()}>
          <PickBox id={id} isPicked={isPicked} onPick={onPick} />
        </div>
      )}
      {columns.map((column) => (
        <div key={column.id} role="gridcell" className={styles['cell']} data-align={column.align}>
          {column.cell(worker, { fullLoad, isNarrow })}
        </div>
      ))}
    </div>
  );
});

/** Drawn anew only when it is picked: rows change several times a second. */
const PickBox = memo(function PickBox({ id, isPicked, onPick }: Pick<WorkerRowProps, 'isPicked' | 'onPick'> & { readonly id: string }): JSX.Element {
  return <Checkbox size="xs" tabIndex={-1} aria-label={`Select ${id}`} checked={isPicked} onChange={({ currentTarget }) => onPick(id, currentTarget.checked)} />;
});
