import { Button, NativeSelect, Skeleton } from '@mantine/core';
import type { CacheTreeNode, CacheView } from '@switchyard/core/contracts';
import { type JSX, useState } from 'react';

import { type Listed } from '../../api/listed.js';
import { useAdmin } from '../../api/queries.js';
import { count, plural } from '../../parts/format.js';
import { EmptyState, Panel } from '../../parts/panel.js';
import { Refusal } from '../../parts/refusal.js';
import styles from './cache.module.css';
import { PrefixTree } from './prefix-tree.js';
import { branchPaths, countNodes } from './tree-rows.js';

const depths = ['2', '4', '8', '16', '64'] as const;
const limits = ['50', '200', '500'] as const;
const everyMs = 3000;

export interface PrefixPanelProps {
  readonly role: CacheView['role'];
  readonly model: string;
  readonly following: boolean;
}

/** The heaviest prefixes of one index as a tree, as deep and as wide as asked. */
export function PrefixPanel({ role, model, following }: PrefixPanelProps): JSX.Element {
  const [depth, setDepth] = useState<string>('8');
  const [limit, setLimit] = useState<string>('200');
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const query = new URLSearchParams({ role, depth, limit, ...(model === '' ? {} : { model }) });
  const answer = useAdmin<Listed<CacheTreeNode>>(`/api/v1/cache/tree?${query.toString()}`, { keepPrevious: true, ...(following ? { everyMs } : {}) });
  const nodes = answer.data?.items ?? [];
  const found = countNodes(nodes);
  const setAll = (open: boolean): void => setToggled(new Map(branchPaths(nodes).map((path) => [path, open])));

  return (
    <Panel
      title="Heaviest prefixes"
      note={answer.data === undefined ? undefined : found === Number(limit) ? `the ${count(found)} with most hits` : plural(found, 'run of blocks', 'runs of blocks')}
      flush
      side={
        <>
          <NativeSelect size="xs" aria-label="Depth" data={depths.map((value) => ({ value, label: `${value} deep` }))} value={depth} onChange={(event) => setDepth(event.currentTarget.value)} />
          <NativeSelect size="xs" aria-label="Limit" data={limits.map((value) => ({ value, label: `at most ${value}` }))} value={limit} onChange={(event) => setLimit(event.currentTarget.value)} />
          <Button.Group>
            <Button variant="default" disabled={found === nodes.length} onClick={() => setAll(true)}>
              Expand all
            </Button>
            <Button variant="default" disabled={found === nodes.length} onClick={() => setAll(false)}>
              Collapse all
            </Button>
          </Button.Group>
        </>
      }
    >
      {answer.error !== null && <Refusal error={answer.error} onRetry={() => void answer.refetch()} />}
      {answer.isPending ? (
        <div role="status" aria-label="Loading the tree" className={styles['waiting']}>
          <Skeleton height={22} />
          <Skeleton height={22} />
        </div>
      ) : nodes.length === 0 ? (
        answer.error === null && <EmptyState title="Nothing is held">No worker holds a prefix of this model now. The next prompt begins one.</EmptyState>
      ) : (
        <PrefixTree nodes={nodes} toggled={toggled} onToggle={(path, open) => setToggled(new Map(toggled).set(path, open))} />
      )}
    </Panel>
  );
}
