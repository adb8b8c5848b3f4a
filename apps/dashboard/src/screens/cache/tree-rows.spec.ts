import type { CacheTreeNode } from '@switchyard/core/contracts';

import { branchPaths, countNodes, treeRows } from './tree-rows.js';

const node = (hash: string, depthBytes: number, children: readonly CacheTreeNode[] = []): CacheTreeNode => ({
  hash,
  depthBytes,
  blocks: 1,
  hits: 0,
  lastHitMs: null,
  confirmed: true,
  workers: [],
  children,
});
const forest = [node('a', 100, [node('b', 150, [node('c', 160)]), node('d', 130)]), node('b', 40)];

describe('the rows of a prefix tree', () => {
  it('show what is below open nodes only, with the place of each among its siblings', () => {
    const rows = treeRows(forest, (path) => path === '/a');
    expect(rows.map(({ path, level, startBytes, open, position, siblings }) => [path, level, startBytes, open, position, siblings])).toEqual([
      ['/a', 1, 0, true, 1, 2],
      ['/a/b', 2, 100, false, 1, 2],
      ['/a/d', 2, 100, false, 2, 2],
      ['/b', 1, 0, false, 2, 2],
    ]);
  });

  it('never call a leaf open', () => {
    expect(treeRows([node('a', 1)], () => true)[0]?.open).toBe(false);
  });

  it('count everything and know all branches', () => {
    expect(countNodes(forest)).toBe(5);
    expect(branchPaths(forest)).toEqual(['/a', '/a/b']);
  });
});
