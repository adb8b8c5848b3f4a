import { noNode, type NodeId } from './node-store.js';
import { type Hand } from './recency-list.js';

/** A worker's place in one index. A worker that left and one that came have different owners, always. */
export interface Owner<W> extends Hand {
  readonly worker: W;
  /** Its number in owner sets; used again only after its last trace is gone. */
  readonly slot: number;
  /** False from the moment it left: then nothing it owns counts any more. */
  alive: boolean;
  /** Prompt bytes of the nodes it owns. */
  coveredBytes: number;
  hits: number;
  /** Nodes it has been seen to own no longer, up to here. */
  passed: NodeId;
}

/** The owners of one index, by worker and by slot. Lookups are O(1). */
export class OwnerRegistry<W> {
  readonly #byWorker = new Map<W, Owner<W>>();
  readonly #bySlot: (Owner<W> | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  /** Left, but not yet cleaned out of all nodes; first come, first cleaned. */
  readonly #departed: Owner<W>[] = [];

  get size(): number {
    return this.#byWorker.size;
  }

  /** The owner to clean up after next. */
  get firstDeparted(): Owner<W> | undefined {
    return this.#departed[0];
  }

  find(worker: W): Owner<W> | undefined {
    return this.#byWorker.get(worker);
  }

  at(slot: number): Owner<W> | undefined {
    return this.#bySlot[slot];
  }

  add(worker: W): Owner<W> {
    const slot = this.#freeSlots.pop() ?? this.#bySlot.length;
    const owner = { worker, slot, alive: true, coveredBytes: 0, hits: 0, passed: noNode };
    this.#byWorker.set(worker, owner);
    this.#bySlot[slot] = owner;
    return owner;
  }

  /** Ends the owner of `worker`; its slot stays taken until `release`. */
  depart(worker: W): Owner<W> | undefined {
    const owner = this.#byWorker.get(worker);
    if (owner === undefined) return undefined;
    owner.alive = false;
    this.#byWorker.delete(worker);
    this.#departed.push(owner);
    return owner;
  }

  /** Gives back the slot of the first departed owner, which no node has any more. */
  release(): Owner<W> | undefined {
    const owner = this.#departed.shift();
    if (owner === undefined) return undefined;
    this.#bySlot[owner.slot] = undefined;
    this.#freeSlots.push(owner.slot);
    return owner;
  }
}
