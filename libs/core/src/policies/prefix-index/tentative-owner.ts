import { nodeFlag, type NodeId, type NodeStore } from './node-store.js';

/**
 * An ownership of one node by one slot that nobody has confirmed. Those of one slot form a tree like the nodes':
 * as a confirmed node has confirmed parents, the parent of one is another or none.
 */
export interface TentativeOwner {
  readonly node: NodeId;
  readonly slot: number;
  parent: TentativeOwner | null;
  /** Claims that end here, and tentative owners below: while there are any, the ownership stays. */
  references: number;
  /** False once confirmed or withdrawn. */
  open: boolean;
  /** Where its claims went when it was taken away before they ended. */
  movedTo: TentativeOwner | null;
}

/** All tentative owners by node. There are as many as requests in flight reach new nodes, so few. */
export class TentativeOwners {
  readonly #nodes: NodeStore;
  readonly #byNode = new Map<NodeId, TentativeOwner[]>();

  constructor(nodes: NodeStore) {
    this.#nodes = nodes;
  }

  find(node: NodeId, slot: number): TentativeOwner | null {
    if (!this.#nodes.hasFlag(node, nodeFlag.tentative)) return null;
    return this.#byNode.get(node)?.find((owner) => owner.slot === slot) ?? null;
  }

  add(node: NodeId, slot: number, parent: TentativeOwner | null): TentativeOwner {
    if (parent !== null) parent.references += 1;
    return this.#insert({ node, slot, parent, references: 0, open: true, movedTo: null });
  }

  /** Gives `upper`, the new upper half of `node`, what is tentative in `node`. */
  split(node: NodeId, upper: NodeId): void {
    for (const lower of this.#byNode.get(node) ?? []) {
      lower.parent = this.#insert({ node: upper, slot: lower.slot, parent: lower.parent, references: 1, open: true, movedTo: null });
    }
  }

  /** Where the claims of `owner` are now; `null` when there is nothing left to end. */
  resolve(owner: TentativeOwner): TentativeOwner | null {
    let at: TentativeOwner | null = owner;
    while (at !== null && !at.open) at = at.movedTo;
    return at;
  }

  /** Confirms `owner` and all above it; returns how many. */
  confirm(owner: TentativeOwner): number {
    let count = 0;
    for (let at: TentativeOwner | null = owner; at !== null; at = at.parent) {
      if (!at.open) break;
      this.#close(at);
      count += 1;
    }
    return count;
  }

  /** Takes `owner`, without tentative owners below, away; its claims go to its parent if that is tentative too. */
  remove(owner: TentativeOwner): void {
    this.#close(owner);
    const parent = owner.parent;
    if (parent === null || !parent.open) return;
    parent.references += owner.references - 1;
    owner.movedTo = parent;
  }

  #insert(owner: TentativeOwner): TentativeOwner {
    const list = this.#byNode.get(owner.node);
    if (list === undefined) {
      this.#byNode.set(owner.node, [owner]);
      this.#nodes.setFlag(owner.node, nodeFlag.tentative);
    } else {
      list.push(owner);
    }
    return owner;
  }

  #close(owner: TentativeOwner): void {
    owner.open = false;
    const list = this.#byNode.get(owner.node);
    if (list === undefined) return;
    const at = list.indexOf(owner);
    const last = list.pop();
    if (last !== undefined && last !== owner) list[at] = last;
    if (list.length > 0) return;
    this.#byNode.delete(owner.node);
    this.#nodes.clearFlag(owner.node, nodeFlag.tentative);
  }
}
