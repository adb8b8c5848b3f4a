import { type PrefixKey } from '../../prompt/prefix-key.js';
import { BlockRuns } from './block-runs.js';
import { ChildTable } from './child-table.js';
import { field, nodeFlag, noNode, type NodeId, NodeStore, rootNode } from './node-store.js';
import { OwnerSets } from './owner-sets.js';
import { RecencyList } from './recency-list.js';
import { WordArena } from './word-arena.js';

/** The nodes that a key passes, from the top; reused from walk to walk. */
export interface Path {
  length: number;
  readonly nodes: NodeId[];
  /** Prompt bytes matched up to and including each node; less than the node's end only for the last. */
  readonly bytes: number[];
  /** Blocks matched up to and including each node. */
  readonly blocks: number[];
  /** The last node is matched in part only. */
  partial: boolean;
}

export function newPath(): Path {
  return { length: 0, nodes: [], bytes: [], blocks: [], partial: false };
}

/**
 * The shape of a prefix index: a tree whose nodes are runs of blocks with equal owners, and the structures that find,
 * order and hold them. It knows slots, not workers.
 */
export class PrefixTree {
  readonly nodes = new NodeStore();
  readonly #arena = new WordArena();
  readonly owners = new OwnerSets(this.nodes, this.#arena);
  readonly recency = new RecencyList(this.nodes);
  readonly #runs = new BlockRuns(this.nodes, this.#arena);
  readonly #children = new ChildTable(this.nodes);
  #blocks = 0;
  #coveredBytes = 0;

  get blocks(): number {
    return this.#blocks;
  }

  /** Prompt bytes of all nodes, counted once. */
  get coveredBytes(): number {
    return this.#coveredBytes;
  }

  /** Bytes of memory. */
  get bytes(): number {
    return this.nodes.bytes + this.#arena.bytes + this.#children.bytes;
  }

  /** Follows the first `limit` blocks of `key` as far as the tree goes. O(nodes on the way × log run). */
  walk(key: PrefixKey, limit: number, path: Path): void {
    path.length = 0;
    path.partial = false;
    let parent = rootNode;
    let block = 0;
    while (block < limit && !path.partial) {
      const node = this.#children.find(parent, key.lo[block] ?? 0, key.hi[block] ?? 0);
      if (node === noNode) return;
      const matching = this.#runs.matching(node, key, block, limit);
      block += matching;
      path.partial = matching < this.nodes.get(node, field.blocks);
      path.nodes[path.length] = node;
      path.blocks[path.length] = block;
      path.bytes[path.length] = key.ends[block - 1] ?? 0;
      path.length += 1;
      parent = node;
    }
  }

  /** Adds blocks `[from, to)` of `key` below `parent` as a new node without owners, newest of all. */
  append(parent: NodeId, key: PrefixKey, from: number, to: number): NodeId {
    const nodes = this.nodes;
    const node = nodes.allocate();
    this.#runs.write(node, key, from, to);
    nodes.set(node, field.parent, parent);
    nodes.set(node, field.endBytes, key.ends[to - 1] ?? 0);
    this.#children.insert(node);
    this.#addSibling(parent, node);
    nodes.set(parent, field.childCount, nodes.get(parent, field.childCount) + 1);
    this.recency.addNewest(node);
    this.#blocks += to - from;
    this.#coveredBytes += nodes.runBytes(node);
    return node;
  }

  /**
   * Parts `node` after `count` blocks, which end at `endBytes`. Returns the new upper half; `node` stays the lower one,
   * with its children. Both have the owners and hits of before.
   */
  split(node: NodeId, count: number, endBytes: number): NodeId {
    const nodes = this.nodes;
    const parent = nodes.get(node, field.parent);
    const upper = nodes.allocate();
    nodes.set(upper, field.parent, parent);
    // While `node` still has its old key: the upper half takes it over.
    this.#children.replace(node, upper);
    this.#replaceSibling(node, upper);
    this.#runs.split(node, upper, count);
    nodes.set(upper, field.endBytes, endBytes);
    nodes.set(upper, field.hits, nodes.get(node, field.hits));
    nodes.setLastHit(upper, nodes.lastHit(node));
    this.owners.copy(node, upper);
    nodes.set(node, field.parent, upper);
    nodes.set(upper, field.firstChild, node);
    nodes.set(upper, field.childCount, 1);
    this.#children.insert(node);
    this.recency.addAfter(node, upper);
    return upper;
  }

  /**
   * Makes `parent` and its only child one node, which is then called as the child was, when their owners are equal and
   * confirmed. Returns whether it did.
   */
  joinOnlyChild(parent: NodeId): boolean {
    const nodes = this.nodes;
    if (parent === rootNode || nodes.get(parent, field.childCount) !== 1) return false;
    const child = nodes.get(parent, field.firstChild);
    // A child's owners are some of its parent's: equal numbers are equal sets.
    if (nodes.get(child, field.ownerCount) !== nodes.get(parent, field.ownerCount)) return false;
    if (nodes.hasFlag(parent, nodeFlag.tentative) || nodes.hasFlag(child, nodeFlag.tentative)) return false;
    this.#children.remove(child);
    this.#children.replace(parent, child);
    this.#replaceSibling(parent, child);
    this.#runs.join(parent, child);
    nodes.set(child, field.parent, nodes.get(parent, field.parent));
    nodes.set(child, field.hits, Math.max(nodes.get(child, field.hits), nodes.get(parent, field.hits)));
    nodes.setLastHit(child, Math.max(nodes.lastHit(child), nodes.lastHit(parent)));
    this.recency.remove(child);
    this.recency.addAfter(parent, child);
    this.recency.remove(parent);
    this.#dispose(parent);
    return true;
  }

  /** Takes a node without children and owners out of the tree and returns its parent. */
  remove(node: NodeId): NodeId {
    const nodes = this.nodes;
    const parent = nodes.get(node, field.parent);
    this.#blocks -= nodes.get(node, field.blocks);
    this.#coveredBytes -= nodes.runBytes(node);
    this.#children.remove(node);
    this.#removeSibling(node);
    nodes.set(parent, field.childCount, nodes.get(parent, field.childCount) - 1);
    this.recency.remove(node);
    this.#dispose(node);
    return parent;
  }

  /** Marks `node` as used now: newest of all and first of its siblings. Use children before their parents. */
  touch(node: NodeId): void {
    this.recency.touch(node);
    if (this.nodes.get(node, field.previousSibling) === noNode) return;
    this.#removeSibling(node);
    this.#addSibling(this.nodes.get(node, field.parent), node);
  }

  #dispose(node: NodeId): void {
    this.#runs.free(node);
    this.owners.clear(node);
    this.nodes.free(node);
  }

  #addSibling(parent: NodeId, node: NodeId): void {
    const nodes = this.nodes;
    const first = nodes.get(parent, field.firstChild);
    nodes.set(node, field.previousSibling, noNode);
    nodes.set(node, field.nextSibling, first);
    if (first !== noNode) nodes.set(first, field.previousSibling, node);
    nodes.set(parent, field.firstChild, node);
  }

  #removeSibling(node: NodeId): void {
    const nodes = this.nodes;
    const previous = nodes.get(node, field.previousSibling);
    const next = nodes.get(node, field.nextSibling);
    if (previous === noNode) nodes.set(nodes.get(node, field.parent), field.firstChild, next);
    else nodes.set(previous, field.nextSibling, next);
    if (next !== noNode) nodes.set(next, field.previousSibling, previous);
  }

  /** Puts `replacement` where `node` is among the children of its parent; `node` is then nobody's sibling. */
  #replaceSibling(node: NodeId, replacement: NodeId): void {
    const nodes = this.nodes;
    const previous = nodes.get(node, field.previousSibling);
    const next = nodes.get(node, field.nextSibling);
    nodes.set(replacement, field.previousSibling, previous);
    nodes.set(replacement, field.nextSibling, next);
    if (previous === noNode) nodes.set(nodes.get(node, field.parent), field.firstChild, replacement);
    else nodes.set(previous, field.nextSibling, replacement);
    if (next !== noNode) nodes.set(next, field.previousSibling, replacement);
    nodes.set(node, field.previousSibling, noNode);
    nodes.set(node, field.nextSibling, noNode);
  }
}
