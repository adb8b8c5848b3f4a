import type { CacheTreeNode } from '@switchyard/core/contracts';
import { type JSX, type KeyboardEvent, useMemo, useRef, useState } from 'react';

import styles from './cache.module.css';
import { PrefixRow } from './prefix-row.js';
import { type TreeRow, treeRows } from './tree-rows.js';

export interface PrefixTreeProps {
  readonly nodes: readonly CacheTreeNode[];
  /** Branches the viewer opened (true) or closed; others are open on the first level. */
  readonly toggled: ReadonlyMap<string, boolean>;
  readonly onToggle: (path: string, open: boolean) => void;
}

/** A tree in a table. Arrows move, open and close, as in every tree; `j` and `k` move as well. */
export function PrefixTree({ nodes, toggled, onToggle }: PrefixTreeProps): JSX.Element {
  const body = useRef<HTMLTableSectionElement>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const rows = useMemo(() => treeRows(nodes, (path, level) => toggled.get(path) ?? (level === 1 && nodes.length <= 3)), [nodes, toggled]);
  const mostHits = Math.max(1, ...nodes.map(({ hits }) => hits));
  const current = rows.some(({ path }) => path === focused) ? focused : rows[0]?.path;

  const go = (row: TreeRow | undefined): void => {
    if (row === undefined) return;
    setFocused(row.path);
    body.current?.rows[rows.indexOf(row)]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = rows.findIndex(({ path }) => path === current);
    const row = rows[at];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = actions[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act({ rows, at, row, go, onToggle });
  };

  return (
    <div className={styles['tree']}>
      <table className={styles['table']} role="treegrid" aria-label="Heaviest prefixes" onKeyDown={onKeyDown}>
        <thead>
          <tr>
            <th scope="col" title="Hash of the first block of this run">
              Prefix
            </th>
            <th scope="col" title="Prompt bytes from the start of the prompt to the end of this run">
              Depth
            </th>
            <th scope="col" title="Prompt bytes of this run alone, and its blocks">
              Size
            </th>
            <th scope="col">Hits</th>
            <th scope="col">Last hit</th>
            <th scope="col" title="Confirmed: a worker has shown that it works on it. Tentative: only sent there so far.">
              State
            </th>
            <th scope="col">Held by</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row) => (
            <PrefixRow key={row.path} row={row} mostHits={mostHits} inTabOrder={row.path === current} onFocus={() => setFocused(row.path)} onToggle={() => onToggle(row.path, !row.open)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Standing {
  readonly rows: readonly TreeRow[];
  readonly at: number;
  readonly row: TreeRow;
  readonly go: (row: TreeRow | undefined) => void;
  readonly onToggle: (path: string, open: boolean) => void;
}

const down = ({ rows, at, go }: Standing): void => go(rows[at + 1]);
const up = ({ rows, at, go }: Standing): void => go(rows[at - 1]);
const toggle = ({ row, onToggle }: Standing): void => {
  if (row.node.children.length > 0) onToggle(row.path, !row.open);
};

const actions: Readonly<Record<string, (standing: Standing) => void>> = {
  ArrowDown: down,
  j: down,
  ArrowUp: up,
  k: up,
  Home: ({ rows, go }) => go(rows[0]),
  End: ({ rows, go }) => go(rows.at(-1)),
  Enter: toggle,
  ' ': toggle,
  ArrowRight: (standing) => (standing.row.open ? down(standing) : toggle(standing)),
  ArrowLeft: ({ rows, at, row, go, onToggle }) => {
    if (row.open) onToggle(row.path, false);
    else go(rows.slice(0, at).findLast(({ level }) => level === row.level - 1));
  },
};
