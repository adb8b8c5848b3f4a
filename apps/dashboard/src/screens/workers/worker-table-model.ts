import type { WorkerView } from '@switchyard/core/contracts';
import {
  columnVisibilityFeature,
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  type SortingState,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useMemo, useState } from 'react';

import { useViewportSize } from '@mantine/hooks';

import { defaultVisibility, type WorkerColumn, workerColumns } from './worker-columns.js';

const features = tableFeatures({ rowSortingFeature, columnVisibilityFeature, sortedRowModel: createSortedRowModel() });
const helper = createColumnHelper<typeof features, WorkerView>();
const columnById = new Map(workerColumns.map((column) => [column.id, column]));
const definitions = helper.columns(
  workerColumns.map(({ id, name, order }) =>
    helper.accessor((worker) => worker, { id, header: name, sortFn: (a, b) => order(a.original, b.original), sortDescFirst: false }),
  ),
);

const keptUnder = 'switchyard-worker-columns';
const leastFullLoad = 4;
const narrowPx = 600;

export interface WorkerHeader {
  readonly column: WorkerColumn;
  readonly sorted: false | 'asc' | 'desc';
  readonly toggle: () => void;
}

export interface WorkerTableModel {
  readonly rows: readonly WorkerView[];
  readonly columns: readonly WorkerColumn[];
  readonly headers: readonly WorkerHeader[];
  /** Largest load of each pool, at least a little. */
  readonly fullLoads: Readonly<Record<WorkerView['role'], number>>;
  /** Of the CSS grid, without the column of check boxes. */
  readonly template: string;
  /** Narrower than this the table scrolls sideways. */
  readonly leastPx: number;
  /** Rows have two lines. */
  readonly isNarrow: boolean;
  readonly isShown: (columnId: string) => boolean;
  readonly show: (columnId: string, shown: boolean) => void;
  readonly showDefaults: () => void;
}

/** Order and columns of the worker table; the choice of columns is kept in the browser. */
export function useWorkerTableModel(shown: WorkerView[], all: readonly WorkerView[]): WorkerTableModel {
  const { width } = useViewportSize();
  const [sorting, setSorting] = useState<SortingState>([{ id: 'state', desc: false }]);
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean>>>(readChoice);
  const isNarrow = width < narrowPx;
  const columnVisibility = useMemo(() => ({ ...defaultVisibility(width), ...chosen }), [width, chosen]);
  const table = useTable({
    features,
    columns: definitions,
    data: shown,
    getRowId: ({ id }) => id,
    state: { sorting, columnVisibility },
    onSortingChange: setSorting,
    enableSortingRemoval: false,
  });
  const rows = table.getRowModel().rows;
  const fullLoads = useMemo(() => {
    const loads = { prefill: leastFullLoad, decode: leastFullLoad, regular: leastFullLoad };
    for (const { role, load } of all) loads[role] = Math.max(loads[role], load);
    return loads;
  }, [all]);
  const choose = (next: Readonly<Record<string, boolean>>): void => {
    setChosen(next);
    keepChoice(next);
  };
  const visible = table.getVisibleLeafColumns();
  const columns = useMemo(() => workerColumns.filter(({ id }) => columnVisibility[id] === true), [columnVisibility]);
  const template = useMemo(() => {
    const crowd = { isNarrow, hasLongNames: all.some(({ id }) => id.length > 13), hasDrains: all.some(({ adminState }) => adminState !== 'ready'), hasFlapping: all.some(({ flaps }) => flaps.flapping) };
    return columns.map(({ width: widthOf }) => widthOf(crowd)).join(' ');
  }, [columns, all, isNarrow]);
  return {
    rows: rows.map(({ original }) => original),
    columns,
    headers: visible.flatMap((column) => {
      const known = columnById.get(column.id);
      return known === undefined ? [] : [{ column: known, sorted: column.getIsSorted(), toggle: () => column.toggleSorting() }];
    }),
    fullLoads,
    template,
    leastPx: leastWidthOf(template),
    isNarrow,
    isShown: (id) => columnVisibility[id] === true,
    show: (id, isShown) => choose({ ...chosen, [id]: isShown }),
    showDefaults: () => choose({}),
  };
}

/** The sum of what the columns need: the first number of each is its least width. */
function leastWidthOf(template: string): number {
  return [...template.matchAll(/(?:^| )(?:minmax\()?(\d+)px/g)].reduce((sum, [, px]) => sum + Number(px), 0);
}

function readChoice(): Record<string, boolean> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keptUnder) ?? '{}');
    if (typeof kept !== 'object' || kept === null) return {};
    return Object.fromEntries(Object.entries(kept).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'));
  } catch {
    return {};
  }
}

function keepChoice(choice: Readonly<Record<string, boolean>>): void {
  try {
    localStorage.setItem(keptUnder, JSON.stringify(choice));
  } catch {
    // A browser that keeps nothing shows the default columns next time.
  }
}
