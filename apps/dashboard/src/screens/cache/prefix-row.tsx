import { IconChevronDown, IconChevronRight, IconCircleCheck, IconCircleDashed } from '@tabler/icons-react';
import { type JSX } from 'react';

import { bytes, count, plural } from '../../parts/format.js';
import { Tag } from '../../parts/mark.js';
import { ageWords } from './age-words.js';
import styles from './cache.module.css';
import { type TreeRow } from './tree-rows.js';

const workersShown = 2;
const deepestIndent = 10;

export interface PrefixRowProps {
  readonly row: TreeRow;
  readonly mostHits: number;
  readonly inTabOrder: boolean;
  readonly onFocus: () => void;
  readonly onToggle: () => void;
}

export function PrefixRow({ row, mostHits, inTabOrder, onFocus, onToggle }: PrefixRowProps): JSX.Element {
  const { node, level, open, position, siblings, startBytes } = row;
  const branch = node.children.length > 0;
  const Chevron = open ? IconChevronDown : IconChevronRight;
  return (
    <tr
      role="row"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={siblings}
      {...(branch ? { 'aria-expanded': open } : {})}
      tabIndex={inTabOrder ? 0 : -1}
      data-branch={branch || undefined}
      onFocus={onFocus}
      onClick={branch ? onToggle : undefined}
    >
      <td role="gridcell" className={styles['prefix']} style={{ paddingLeft: 8 + 16 * Math.min(level - 1, deepestIndent) }}>
        <span className={styles['chevron']}>{branch && <Chevron size={14} aria-hidden />}</span>
        <span className="sy-mono">{node.hash.slice(0, 8)}</span>
        {branch && !open && <span className={styles['below']}>+{count(node.children.length)}</span>}
      </td>
      <td role="gridcell">{bytes(node.depthBytes)}</td>
      <td role="gridcell">
        {bytes(Math.max(0, node.depthBytes - startBytes))} <span className="sy-dim">{plural(node.blocks, 'block')}</span>
      </td>
      <td role="gridcell" className={styles['hits']}>
        {count(node.hits)}
        {node.hits > 0 && (
          <span className={styles['meter']} aria-hidden>
            <span style={{ width: `${(100 * node.hits) / mostHits}%` }} />
          </span>
        )}
      </td>
      <td role="gridcell">{node.lastHitMs === null ? <span className="sy-dim">never</span> : ageWords(node.lastHitMs)}</td>
      <td role="gridcell">
        <span className={styles['state']} data-confirmed={node.confirmed || undefined}>
          {node.confirmed ? <IconCircleCheck size={14} aria-hidden /> : <IconCircleDashed size={14} aria-hidden />}
          {node.confirmed ? 'confirmed' : 'tentative'}
        </span>
      </td>
      <td role="gridcell" title={node.workers.join(', ')}>
        <span className={styles['holders']}>
          {node.workers.slice(0, workersShown).map((id) => (
            <Tag key={id}>{id}</Tag>
          ))}
          {node.workers.length > workersShown && <span className="sy-dim">+{count(node.workers.length - workersShown)}</span>}
        </span>
      </td>
    </tr>
  );
}
