import { type PrefixKey } from '../../prompt/prefix-key.js';
import { field, type NodeId, type NodeStore } from './node-store.js';
import { type WordArena } from './word-arena.js';

/** The block hashes of each node: the first in the node itself, the others in the arena. */
export class BlockRuns {
  readonly #nodes: NodeStore;
  readonly #arena: WordArena;

  constructor(nodes: NodeStore, arena: WordArena) {
    this.#nodes = nodes;
    this.#arena = arena;
  }

  /** Makes blocks `[from, to)` of `key` the run of a new node. O(blocks). */
  write(node: NodeId, key: PrefixKey, from: number, to: number): void {
    this.#setFirst(node, key.lo[from] ?? 0, key.hi[from] ?? 0);
    const rest = to - from - 1;
    const { words, at } = this.#newRun(node, rest);
    words.set(key.lo.subarray(from + 1, to), at);
    words.set(key.hi.subarray(from + 1, to), at + rest);
  }

  /**
   * Blocks of the run that equal those of `key` from block `from` on, looking at no more than `limit` blocks of the
   * key; the first is known to be equal. Hashes are chained, so equality up to a block is equality of that block:
   * O(log blocks).
   */
  matching(node: NodeId, key: PrefixKey, from: number, limit: number): number {
    const blocks = this.#nodes.get(node, field.blocks);
    const most = Math.min(blocks, limit - from);
    if (most === 1) return 1;
    const run = this.#nodes.get(node, field.run);
    const words = this.#arena.wordsOf(run);
    // Block i of the run, i >= 1, has its low word at `lo + i` and its high word at `hi + i`.
    const lo = this.#arena.offsetOf(run) - 1;
    const hi = lo + blocks - 1;
    if (words[lo + most - 1] === key.lo[from + most - 1] && words[hi + most - 1] === key.hi[from + most - 1]) return most;
    let equal = 1;
    let differs = most;
    while (differs - equal > 1) {
      const middle = (equal + differs) >>> 1;
      if (words[lo + middle - 1] === key.lo[from + middle - 1] && words[hi + middle - 1] === key.hi[from + middle - 1]) equal = middle;
      else differs = middle;
    }
    return equal;
  }

  /** Moves the first `count` blocks of `node` to `upper`, a new node. O(blocks). */
  split(node: NodeId, upper: NodeId, count: number): void {
    const nodes = this.#nodes;
    const blocks = nodes.get(node, field.blocks);
    const run = nodes.get(node, field.run);
    const words = this.#arena.wordsOf(run);
    const lo = this.#arena.offsetOf(run) - 1;
    const hi = lo + blocks - 1;
    this.#setFirst(upper, nodes.get(node, field.firstLo), nodes.get(node, field.firstHi));
    const above = this.#newRun(upper, count - 1);
    above.words.set(words.subarray(lo + 1, lo + count), above.at);
    above.words.set(words.subarray(hi + 1, hi + count), above.at + count - 1);
    this.#setFirst(node, words[lo + count] ?? 0, words[hi + count] ?? 0);
    const rest = blocks - count - 1;
    const below = this.#newRun(node, rest);
    below.words.set(words.subarray(lo + count + 1, lo + blocks), below.at);
    below.words.set(words.subarray(hi + count + 1, hi + blocks), below.at + rest);
    this.#arena.free(run);
  }

  /** Puts the blocks of `parent` before those of `child`. O(blocks). */
  join(parent: NodeId, child: NodeId): void {
    const nodes = this.#nodes;
    const above = nodes.get(parent, field.blocks);
    const below = nodes.get(child, field.blocks);
    const parentRun = nodes.get(parent, field.run);
    const childRun = nodes.get(child, field.run);
    const childLo = nodes.get(child, field.firstLo);
    const childHi = nodes.get(child, field.firstHi);
    const rest = above + below - 1;
    this.#setFirst(child, nodes.get(parent, field.firstLo), nodes.get(parent, field.firstHi));
    const { words, at } = this.#newRun(child, rest);
    for (const [first, firstBlock, half] of [
      [at, childLo, 0],
      [at + rest, childHi, 1],
    ] as const) {
      this.#copyHalf(parentRun, above - 1, half, words, first);
      words[first + above - 1] = firstBlock;
      this.#copyHalf(childRun, below - 1, half, words, first + above);
    }
    this.#arena.free(childRun);
  }

  free(node: NodeId): void {
    this.#arena.free(this.#nodes.get(node, field.run));
  }

  #setFirst(node: NodeId, lo: number, hi: number): void {
    this.#nodes.set(node, field.firstLo, lo);
    this.#nodes.set(node, field.firstHi, hi);
  }

  /** Room for `rest` blocks after the first; what the node had is not freed. */
  #newRun(node: NodeId, rest: number): { readonly words: Uint32Array; readonly at: number } {
    const run = rest === 0 ? 0 : this.#arena.allocate(rest * 2);
    this.#nodes.set(node, field.blocks, rest + 1);
    this.#nodes.set(node, field.run, run);
    return { words: this.#arena.wordsOf(run), at: this.#arena.offsetOf(run) };
  }

  #copyHalf(run: number, count: number, half: 0 | 1, to: Uint32Array, at: number): void {
    if (count === 0) return;
    const start = this.#arena.offsetOf(run) + half * count;
    to.set(this.#arena.wordsOf(run).subarray(start, start + count), at);
  }
}
