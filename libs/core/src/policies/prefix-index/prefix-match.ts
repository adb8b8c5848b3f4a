import { goesBefore } from '../placement-order.js';
import { type PolicyWorker } from '../policy.js';
import { type Owner, type OwnerRegistry } from './owner-registry.js';
import { field } from './node-store.js';
import { type Path, type PrefixTree } from './prefix-tree.js';

/** The candidate that holds most of a prompt. */
export interface BestMatch<W extends PolicyWorker> {
  readonly worker: W;
  readonly bytes: number;
  /** Bytes that the next best candidate holds. */
  readonly runnerUpBytes: number;
}

/** Up to this many owners are looked for among the candidates; of more, the candidates among them. */
const fewOwners = 8;

/** Who holds how much of one prompt. Valid until the index changes or matches another prompt. */
export class PrefixMatch<W extends PolicyWorker> {
  readonly #tree: PrefixTree;
  readonly #owners: OwnerRegistry<W>;
  readonly #path: Path;
  /** Bytes that a full match would have. */
  readonly keyedBytes: number;

  constructor(tree: PrefixTree, owners: OwnerRegistry<W>, path: Path, keyedBytes: number) {
    this.#tree = tree;
    this.#owners = owners;
    this.#path = path;
    this.keyedBytes = keyedBytes;
  }

  /** Bytes from the start of the prompt that `worker` holds. O(nodes on the way). */
  bytesOf(worker: W): number {
    if (this.#path.length === 0) return 0;
    const owner = this.#owners.find(worker);
    return owner === undefined ? 0 : this.#bytesOfOwner(owner);
  }

  /**
   * The candidate with the longest match; of equal ones the first by (pressure, turn, index). `undefined` when no
   * candidate holds a block.
   */
  best(candidates: readonly W[]): BestMatch<W> | undefined {
    let worker: W | undefined;
    let bytes = 0;
    let lookedAt = 0;
    for (let level = this.#path.length - 1; level >= 0; level -= 1) {
      const ownerCount = this.#tree.nodes.get(this.#path.nodes[level] ?? 0, field.ownerCount);
      // Owners only grow towards the top: equal numbers are equal sets.
      if (ownerCount === lookedAt) continue;
      lookedAt = ownerCount;
      const holders = this.#candidatesAt(level, candidates);
      const levelBytes = this.#path.bytes[level] ?? 0;
      if (worker === undefined) {
        for (const holder of holders) if (worker === undefined || goesBefore(holder, worker)) worker = holder;
        if (worker !== undefined) bytes = levelBytes;
      }
      if (holders.length > 1 && worker !== undefined) return { worker, bytes, runnerUpBytes: levelBytes };
    }
    return worker === undefined ? undefined : { worker, bytes, runnerUpBytes: 0 };
  }

  #bytesOfOwner(owner: Owner<W>): number {
    for (let level = this.#path.length - 1; level >= 0; level -= 1) {
      if (this.#tree.owners.has(this.#path.nodes[level] ?? 0, owner.slot)) return this.#path.bytes[level] ?? 0;
    }
    return 0;
  }

  #candidatesAt(level: number, candidates: readonly W[]): W[] {
    const node = this.#path.nodes[level] ?? 0;
    const holders: W[] = [];
    if (this.#tree.nodes.get(node, field.ownerCount) <= fewOwners) {
      for (const slot of this.#tree.owners.slots(node)) {
        const owner = this.#owners.at(slot);
        if (owner?.alive === true && candidates.includes(owner.worker)) holders.push(owner.worker);
      }
    } else {
      for (const candidate of candidates) {
        const owner = this.#owners.find(candidate);
        if (owner !== undefined && this.#tree.owners.has(node, owner.slot)) holders.push(candidate);
      }
    }
    return holders;
  }
}
