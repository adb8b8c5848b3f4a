import { field, type NodeId, type NodeStore } from './node-store.js';
import { type WordArena } from './word-arena.js';

/**
 * Which slots own a node. One owner lies in the node itself; more are a row of bits in the arena, as wide as the
 * largest slot needs. All operations are O(1) but those that say otherwise.
 */
export class OwnerSets {
  readonly #nodes: NodeStore;
  readonly #arena: WordArena;

  constructor(nodes: NodeStore, arena: WordArena) {
    this.#nodes = nodes;
    this.#arena = arena;
  }

  has(node: NodeId, slot: number): boolean {
    const count = this.#nodes.get(node, field.ownerCount);
    if (count === 0) return false;
    const owners = this.#nodes.get(node, field.owners);
    if (count === 1) return owners === slot;
    const word = slot >>> 5;
    if (word >= this.#arena.sizeOf(owners)) return false;
    return ((this.#arena.wordsOf(owners)[this.#arena.offsetOf(owners) + word] ?? 0) & (1 << (slot & 31))) !== 0;
  }

  /** Adds a slot that is not there yet. O(slots / 32) when the row begins or widens. */
  add(node: NodeId, slot: number): void {
    const nodes = this.#nodes;
    const count = nodes.get(node, field.ownerCount);
    const owners = nodes.get(node, field.owners);
    nodes.set(node, field.ownerCount, count + 1);
    if (count === 0) {
      nodes.set(node, field.owners, slot);
      return;
    }
    if (count > 1 && slot >>> 5 < this.#arena.sizeOf(owners)) {
      this.#setBit(owners, slot);
      return;
    }
    const row = this.#allocateRow(count === 1 ? Math.max(slot, owners) : slot);
    if (count === 1) {
      this.#setBit(row, owners);
    } else {
      this.#copyRow(owners, row);
      this.#arena.free(owners);
    }
    this.#setBit(row, slot);
    nodes.set(node, field.owners, row);
  }

  /** Removes a slot that is there. O(slots / 32) when one owner remains. */
  remove(node: NodeId, slot: number): void {
    const nodes = this.#nodes;
    const count = nodes.get(node, field.ownerCount);
    nodes.set(node, field.ownerCount, count - 1);
    if (count === 1) {
      nodes.set(node, field.owners, 0);
      return;
    }
    const row = nodes.get(node, field.owners);
    const words = this.#arena.wordsOf(row);
    const at = this.#arena.offsetOf(row) + (slot >>> 5);
    words[at] = (words[at] ?? 0) & ~(1 << (slot & 31));
    if (count > 2) return;
    nodes.set(node, field.owners, this.#firstBit(row));
    this.#arena.free(row);
  }

  /** Gives `to`, which has none, the owners of `from`. O(slots / 32). */
  copy(from: NodeId, to: NodeId): void {
    const nodes = this.#nodes;
    const count = nodes.get(from, field.ownerCount);
    let owners = nodes.get(from, field.owners);
    if (count > 1) {
      const row = this.#arena.allocate(this.#arena.sizeOf(owners));
      this.#copyRow(owners, row);
      owners = row;
    }
    nodes.set(to, field.ownerCount, count);
    nodes.set(to, field.owners, owners);
  }

  clear(node: NodeId): void {
    if (this.#nodes.get(node, field.ownerCount) > 1) this.#arena.free(this.#nodes.get(node, field.owners));
    this.#nodes.set(node, field.ownerCount, 0);
    this.#nodes.set(node, field.owners, 0);
  }

  /** Slots of all owners, ascending. O(slots / 32 + owners). */
  slots(node: NodeId): number[] {
    const count = this.#nodes.get(node, field.ownerCount);
    const owners = this.#nodes.get(node, field.owners);
    if (count === 0) return [];
    if (count === 1) return [owners];
    const words = this.#arena.wordsOf(owners);
    const offset = this.#arena.offsetOf(owners);
    const slots: number[] = [];
    for (let word = 0; slots.length < count; word += 1) {
      for (let bits = words[offset + word] ?? 0; bits !== 0; bits &= bits - 1) slots.push(word * 32 + 31 - Math.clz32(bits & -bits));
    }
    return slots;
  }

  #allocateRow(largestSlot: number): number {
    const row = this.#arena.allocate((largestSlot >>> 5) + 1);
    const offset = this.#arena.offsetOf(row);
    this.#arena.wordsOf(row).fill(0, offset, offset + this.#arena.sizeOf(row));
    return row;
  }

  #copyRow(from: number, to: number): void {
    const start = this.#arena.offsetOf(from);
    this.#arena.wordsOf(to).set(this.#arena.wordsOf(from).subarray(start, start + this.#arena.sizeOf(from)), this.#arena.offsetOf(to));
  }

  #setBit(row: number, slot: number): void {
    const words = this.#arena.wordsOf(row);
    const at = this.#arena.offsetOf(row) + (slot >>> 5);
    words[at] = (words[at] ?? 0) | (1 << (slot & 31));
  }

  #firstBit(row: number): number {
    const words = this.#arena.wordsOf(row);
    const offset = this.#arena.offsetOf(row);
    const size = this.#arena.sizeOf(row);
    for (let word = 0; word < size; word += 1) {
      const bits = words[offset + word] ?? 0;
      if (bits !== 0) return word * 32 + 31 - Math.clz32(bits & -bits);
    }
    return 0;
  }
}
