import { field, nodeFlag, noNode, type NodeId, type NodeStore } from './node-store.js';

/** A place in the list up to which its holder has looked: it needs nothing at or before `passed`. */
export interface Hand {
  /** 0 = the hand is before the oldest node. */
  passed: NodeId;
}

/**
 * All nodes by last use. Hands walk from old to new; when the node under a hand moves, the hand steps back to the
 * next older one, so that it never skips anything.
 *
 * A parent is always newer than its children: whoever takes nodes from the old end meets leaves first.
 */
export class RecencyList {
  readonly #nodes: NodeStore;
  readonly #hands = new Set<Hand>();
  #oldest: NodeId = noNode;
  #newest: NodeId = noNode;

  constructor(nodes: NodeStore) {
    this.#nodes = nodes;
  }

  /** A hand that has passed every node there is. */
  addHand(hand: Hand): void {
    this.#hands.add(hand);
    this.advance(hand, this.#newest);
  }

  removeHand(hand: Hand): void {
    this.#hands.delete(hand);
  }

  /** The first node the hand has not passed, or 0. */
  next(hand: Hand): NodeId {
    return hand.passed === noNode ? this.#oldest : this.#nodes.get(hand.passed, field.newer);
  }

  advance(hand: Hand, node: NodeId): void {
    hand.passed = node;
    if (node !== noNode) this.#nodes.setFlag(node, nodeFlag.hand);
  }

  addNewest(node: NodeId): void {
    this.#link(node, this.#newest);
  }

  /** Adds `node` as the next newer neighbour of `older`. */
  addAfter(older: NodeId, node: NodeId): void {
    this.#link(node, older);
  }

  touch(node: NodeId): void {
    // Used again under a hand, the newest node must be found again too.
    if (node === this.#newest && !this.#nodes.hasFlag(node, nodeFlag.hand)) return;
    this.remove(node);
    this.#link(node, this.#newest);
  }

  /** O(1), plus O(hands) when one may rest on the node. */
  remove(node: NodeId): void {
    const nodes = this.#nodes;
    const older = nodes.get(node, field.older);
    const newer = nodes.get(node, field.newer);
    if (nodes.hasFlag(node, nodeFlag.hand)) {
      nodes.clearFlag(node, nodeFlag.hand);
      for (const hand of this.#hands) if (hand.passed === node) this.advance(hand, older);
    }
    if (older === noNode) this.#oldest = newer;
    else nodes.set(older, field.newer, newer);
    if (newer === noNode) this.#newest = older;
    else nodes.set(newer, field.older, older);
  }

  #link(node: NodeId, older: NodeId): void {
    const nodes = this.#nodes;
    const newer = older === noNode ? noNode : nodes.get(older, field.newer);
    nodes.set(node, field.older, older);
    nodes.set(node, field.newer, newer);
    if (older === noNode) this.#oldest = node;
    else nodes.set(older, field.newer, node);
    if (newer === noNode) this.#newest = node;
    else nodes.set(newer, field.older, node);
  }
}
