import type { CacheTreeNode } from '@switchyard/core/contracts';

/** A node of the tree as a line of the table. */
export interface TreeRow {
  /** Hashes from the root, which no two nodes share. */
  readonly path: string;
  readonly level: number;
  readonly node: CacheTreeNode;
  /** Prompt bytes before this run. */
  readonly startBytes: number;
  readonly open: boolean;
  /** Position among its siblings, from 1, and how many there are. */
  readonly position: number;
  readonly siblings: number;
}

/** The nodes that are seen: all of the first level, and what is below open ones. O(seen). */
export function treeRows(nodes: readonly CacheTreeNode[], isOpen: (path: string, level: number) => boolean): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  const walk = (siblings: readonly CacheTreeNode[], level: number, before: string, startBytes: number): void => {
    siblings.forEach((node, at) => {
      const path = `${before}/${node.hash}`;
      const open = node.children.length > 0 && isOpen(path, level);
      rows.push({ path, level, node, startBytes, open, position: at + 1, siblings: siblings.length });
      if (open) walk(node.children, level + 1, path, node.depthBytes);
    });
  };
  walk(nodes, 1, '', 0);
  return rows;
}

/** All paths that have something below them. */
export function branchPaths(nodes: readonly CacheTreeNode[], before = ''): readonly string[] {
  return nodes.flatMap((node) => {
    const path = `${before}/${node.hash}`;
    return node.children.length === 0 ? [] : [path, ...branchPaths(node.children, path)];
  });
}

export const countNodes = (nodes: readonly CacheTreeNode[]): number => nodes.reduce((sum, { children }) => sum + 1 + countNodes(children), 0);
