/** A node of the prefix tree: a small integer, reused after `free`. 0 is no node, 1 is the root. */
export type NodeId = number;

export const noNode: NodeId = 0;
export const rootNode: NodeId = 1;

/** What is kept of a node: 16 words, one cache line. */
export const field = {
  parent: 0,
  /** Hash of the run's first block; with the parent it is the key in the child table. */
  firstLo: 1,
  firstHi: 2,
  /** Blocks of the run. */
  blocks: 3,
  /** Arena handle of the hashes of the other blocks: all low words, then all high words. */
  run: 4,
  /** Prompt bytes from the start of the prompt to the end of the run. */
  endBytes: 5,
  ownerCount: 6,
  /** The owner's slot while there is one owner, else the arena handle of a bit row. */
  owners: 7,
  /** Neighbours in the recency list. */
  older: 8,
  newer: 9,
  firstChild: 10,
  childCount: 11,
  previousSibling: 12,
  nextSibling: 13,
  /** Requests whose chosen worker owned the node already. */
  hits: 14,
  /** Time of the last of them in tenths of seconds of the index, shifted over the flags; 0 = never. */
  lastHitAndFlags: 15,
} as const;

export type Field = (typeof field)[keyof typeof field];

export const nodeFlag = {
  /** An eviction hand may rest on the node. */
  hand: 1,
  /** Some owner of the node is not confirmed. */
  tentative: 2,
} as const;

const flagBits = 2;
const flagMask = (1 << flagBits) - 1;
const pageBits = 9;
const pageNodes = 1 << pageBits;
const fieldBits = 4;
const noPage = new Uint32Array(0);

/** Holds nodes in pages of 32 KiB: growing allocates a page and copies nothing. All operations are O(1). */
export class NodeStore {
  readonly #pages: Uint32Array[] = [];
  #used = 1;
  #firstFree: NodeId = noNode;
  #count = 0;

  constructor() {
    this.allocate();
  }

  /** Nodes in use, without the root. */
  get count(): number {
    return this.#count - 1;
  }

  /** Bytes of all pages. */
  get bytes(): number {
    return this.#pages.length * (pageNodes << fieldBits) * 4;
  }

  /** A node with every field 0. */
  allocate(): NodeId {
    this.#count += 1;
    const freed = this.#firstFree;
    if (freed !== noNode) {
      this.#firstFree = this.get(freed, field.parent);
      this.set(freed, field.parent, 0);
      return freed;
    }
    const node = this.#used;
    this.#used += 1;
    if (node >>> pageBits >= this.#pages.length) this.#pages.push(new Uint32Array(pageNodes << fieldBits));
    return node;
  }

  free(node: NodeId): void {
    const start = (node & (pageNodes - 1)) << fieldBits;
    this.#pages[node >>> pageBits]?.fill(0, start, start + (1 << fieldBits));
    this.set(node, field.parent, this.#firstFree);
    this.#firstFree = node;
    this.#count -= 1;
  }

  get(node: NodeId, name: Field): number {
    return (this.#pages[node >>> pageBits] ?? noPage)[((node & (pageNodes - 1)) << fieldBits) + name] ?? 0;
  }

  set(node: NodeId, name: Field, value: number): void {
    (this.#pages[node >>> pageBits] ?? noPage)[((node & (pageNodes - 1)) << fieldBits) + name] = value;
  }

  hasFlag(node: NodeId, flag: number): boolean {
    return (this.get(node, field.lastHitAndFlags) & flag) !== 0;
  }

  setFlag(node: NodeId, flag: number): void {
    this.set(node, field.lastHitAndFlags, this.get(node, field.lastHitAndFlags) | flag);
  }

  clearFlag(node: NodeId, flag: number): void {
    this.set(node, field.lastHitAndFlags, this.get(node, field.lastHitAndFlags) & ~flag);
  }

  lastHit(node: NodeId): number {
    return this.get(node, field.lastHitAndFlags) >>> flagBits;
  }

  setLastHit(node: NodeId, tenths: number): void {
    this.set(node, field.lastHitAndFlags, (tenths << flagBits) | (this.get(node, field.lastHitAndFlags) & flagMask));
  }

  /** Bytes of the run itself. */
  runBytes(node: NodeId): number {
    return this.get(node, field.endBytes) - this.get(this.get(node, field.parent), field.endBytes);
  }
}
