import { mix32 } from '../mix32.js';
import { field, noNode, type NodeId, type NodeStore } from './node-store.js';

const segmentSlots = 1024;
const segmentLimit = 768;
/** The directory takes the low bits of a hash, the place in a segment the high ten. */
const maxDepth = 22;

interface Segment {
  readonly slots: Uint32Array;
  used: number;
  /** Low hash bits that all entries share. */
  depth: number;
}

/**
 * Finds a child by (parent, hash of its first block): extendible hashing over segments of 4 KiB. A full segment is
 * split in two, so that growth never moves more than 768 entries. Entries are node ids; the keys lie in the store.
 */
export class ChildTable {
  readonly #nodes: NodeStore;
  #directory: Segment[] = [{ slots: new Uint32Array(segmentSlots), used: 0, depth: 0 }];
  #depth = 0;
  #segments = 1;

  constructor(nodes: NodeStore) {
    this.#nodes = nodes;
  }

  /** Bytes of all segments and the directory. */
  get bytes(): number {
    return this.#segments * segmentSlots * 4 + this.#directory.length * 8;
  }

  /** The child of `parent` whose run begins with the block (`lo`, `hi`), or 0. Expected O(1). */
  find(parent: NodeId, lo: number, hi: number): NodeId {
    const nodes = this.#nodes;
    const hash = hashOf(parent, lo, hi);
    const slots = this.#segmentOf(hash).slots;
    for (let at = hash >>> maxDepth; ; at = (at + 1) & (segmentSlots - 1)) {
      const node = slots[at] ?? noNode;
      if (node === noNode) return noNode;
      if (nodes.get(node, field.firstLo) === lo && nodes.get(node, field.parent) === parent && nodes.get(node, field.firstHi) === hi) return node;
    }
  }

  /**
   * Adds `node` under its present key, which must be new.
   * @throws RangeError when 768 keys share 22 bits of their hash, which salted hashes do not.
   */
  insert(node: NodeId): void {
    const hash = this.#hashOfNode(node);
    let segment = this.#segmentOf(hash);
    while (segment.used >= segmentLimit) {
      this.#split(segment, hash);
      segment = this.#segmentOf(hash);
    }
    place(segment, node, hash);
  }

  /** Removes `node`, which is there under its present key. */
  remove(node: NodeId): void {
    const hash = this.#hashOfNode(node);
    const segment = this.#segmentOf(hash);
    const slots = segment.slots;
    let hole = placeOf(slots, node, hash);
    segment.used -= 1;
    // Entries after the hole move back unless that would put them before their own place.
    for (let at = (hole + 1) & (segmentSlots - 1); ; at = (at + 1) & (segmentSlots - 1)) {
      const other = slots[at] ?? noNode;
      if (other === noNode) break;
      const home = this.#hashOfNode(other) >>> maxDepth;
      if (((at - home) & (segmentSlots - 1)) >= ((at - hole) & (segmentSlots - 1))) {
        slots[hole] = other;
        hole = at;
      }
    }
    slots[hole] = noNode;
  }

  /** Puts `replacement` in the place of `node`, whose present key it takes over. */
  replace(node: NodeId, replacement: NodeId): void {
    const hash = this.#hashOfNode(node);
    const slots = this.#segmentOf(hash).slots;
    slots[placeOf(slots, node, hash)] = replacement;
  }

  #hashOfNode(node: NodeId): number {
    const nodes = this.#nodes;
    return hashOf(nodes.get(node, field.parent), nodes.get(node, field.firstLo), nodes.get(node, field.firstHi));
  }

  #segmentOf(hash: number): Segment {
    const segment = this.#directory[hash & ((1 << this.#depth) - 1)];
    if (segment === undefined) throw new RangeError('child table: directory out of step');
    return segment;
  }

  #split(segment: Segment, hash: number): void {
    if (segment.depth === maxDepth) throw new RangeError('child table: too many equal hashes');
    if (segment.depth === this.#depth) {
      this.#directory = [...this.#directory, ...this.#directory];
      this.#depth += 1;
    }
    const bit = 1 << segment.depth;
    const low = { slots: new Uint32Array(segmentSlots), used: 0, depth: segment.depth + 1 };
    const high = { slots: new Uint32Array(segmentSlots), used: 0, depth: segment.depth + 1 };
    for (const node of segment.slots) {
      if (node === noNode) continue;
      const nodeHash = this.#hashOfNode(node);
      place((nodeHash & bit) === 0 ? low : high, node, nodeHash);
    }
    for (let at = hash & (bit - 1); at < this.#directory.length; at += bit) this.#directory[at] = (at & bit) === 0 ? low : high;
    this.#segments += 1;
  }
}

function hashOf(parent: NodeId, lo: number, hi: number): number {
  return mix32(lo ^ Math.imul(hi, 0x85ebca77) ^ Math.imul(parent, 0x9e3779b1));
}

function place(segment: Segment, node: NodeId, hash: number): void {
  let at = hash >>> maxDepth;
  while (segment.slots[at] !== noNode) at = (at + 1) & (segmentSlots - 1);
  segment.slots[at] = node;
  segment.used += 1;
}

function placeOf(slots: Uint32Array, node: NodeId, hash: number): number {
  let at = hash >>> maxDepth;
  while (slots[at] !== node) {
    if (slots[at] === noNode) throw new RangeError('child table: node is not there');
    at = (at + 1) & (segmentSlots - 1);
  }
  return at;
}
