import { type CacheTreeNode } from '../affinity-statistics.js';
import { field, noNode, type NodeId, rootNode } from './node-store.js';
import { type PrefixTree } from './prefix-tree.js';

/** What the tree itself does not know of a node. */
export interface NodeFacts {
  workers(node: NodeId): readonly string[];
  confirmed(node: NodeId): boolean;
  lastHitMs(node: NodeId): number | null;
}

interface Branch {
  readonly node: NodeId;
  readonly level: number;
  readonly hits: number;
  readonly endBytes: number;
  readonly siblings: CacheTreeNode[];
}

/** Children of one node that are compared: the most recently used ones. Bounds the cost of a wide tree. */
const comparedChildren = 4096;
const largestAnswer = 500;

/**
 * The runs with most hits (then most bytes), best first: at most `limit` (≤ 500) in all, `depth` below each other.
 * A run has at least the hits of those below it that hang on it, so the answer is a connected top of the tree.
 * Runs without a live owner are left out. O(limit × children).
 */
export function heaviestPrefixes(tree: PrefixTree, depth: number, limit: number, facts: NodeFacts): readonly CacheTreeNode[] {
  const top: CacheTreeNode[] = [];
  let left = Math.min(limit, largestAnswer);
  let frontier = depth < 1 ? [] : branchesOf(tree, rootNode, 1, top, left);
  for (let branch = frontier.shift(); branch !== undefined && left > 0; branch = frontier.shift()) {
    const workers = facts.workers(branch.node);
    if (workers.length === 0) continue;
    const children: CacheTreeNode[] = [];
    branch.siblings.push(describe(tree, branch, workers, children, facts));
    left -= 1;
    if (branch.level < depth) frontier = [...frontier, ...branchesOf(tree, branch.node, branch.level + 1, children, left)].sort(heavierFirst);
  }
  return top;
}

function describe(tree: PrefixTree, branch: Branch, workers: readonly string[], children: readonly CacheTreeNode[], facts: NodeFacts): CacheTreeNode {
  const { nodes } = tree;
  return {
    hash: hex(nodes.get(branch.node, field.firstHi)) + hex(nodes.get(branch.node, field.firstLo)),
    depthBytes: branch.endBytes,
    blocks: nodes.get(branch.node, field.blocks),
    hits: branch.hits,
    lastHitMs: facts.lastHitMs(branch.node),
    confirmed: facts.confirmed(branch.node),
    workers,
    children,
  };
}

/** The heaviest children of `parent`; those without a live owner among them still take a place. */
function branchesOf(tree: PrefixTree, parent: NodeId, level: number, siblings: CacheTreeNode[], limit: number): Branch[] {
  const { nodes } = tree;
  const branches: Branch[] = [];
  for (
    let node = nodes.get(parent, field.firstChild);
    node !== noNode && branches.length < comparedChildren;
    node = nodes.get(node, field.nextSibling)
  ) {
    branches.push({ node, level, hits: nodes.get(node, field.hits), endBytes: nodes.get(node, field.endBytes), siblings });
  }
  return branches.sort(heavierFirst).slice(0, limit);
}

function heavierFirst(a: Branch, b: Branch): number {
  return b.hits - a.hits || b.endBytes - a.endBytes;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}
