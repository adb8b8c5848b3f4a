import { type PrefixKey } from '../../prompt/prefix-key.js';
import { type CacheStats, type CacheTreeNode } from '../affinity-statistics.js';
import { type AffinityClaim, type PolicyWorker } from '../policy.js';
import { HitRateWindow } from './hit-rate-window.js';
import { field, noNode, type NodeId, rootNode } from './node-store.js';
import { type Owner, OwnerRegistry } from './owner-registry.js';
import { PrefixMatch } from './prefix-match.js';
import { newPath, type Path, PrefixTree } from './prefix-tree.js';
import { heaviestPrefixes } from './prefix-tree-view.js';
import { type TentativeOwner, TentativeOwners } from './tentative-owner.js';

/** Blocks of a key that are looked at; the architecture's limit on a request. */
const maxBlocks = 4096;
/** One prompt takes at most this part of a worker's bound, so that a huge one leaves 99 % of the others. */
const largestPart = 1 / 128;
/** ... but small bounds still hold whole prompts of this size. */
const smallPromptBytes = 65_536;
/** List steps of one insert: for eviction, and for cleaning up after departed owners. */
const evictionSteps = 20_000;
const cleaningSteps = 128;
/** What taking an owner from a node costs in list steps. */
const removalSteps = 16;

/**
 * Which worker holds which prompt prefixes, for one model: a tree of block runs with their owners, tentative ones
 * included.
 *
 * For every node, owners(child) ⊆ owners(parent). Per worker the covered bytes are bounded; over the bound it loses
 * the prefixes used longest ago, leaves first. A prefix that several workers hold is used when any of them uses it.
 * The work of one insert is bounded, so eviction and cleaning never pause: what is left is done by later inserts.
 */
export class PrefixIndex<W extends PolicyWorker> {
  readonly model: string;
  readonly #nowMs: () => number;
  readonly #startedAtMs: number;
  readonly #hitRate = new HitRateWindow();
  readonly #path: Path = newPath();
  #maxBytes: number;
  #usedAtMs: number;
  #tree = new PrefixTree();
  #tentative = new TentativeOwners(this.#tree.nodes);
  #owners = new OwnerRegistry<W>();
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  /** `maxBytes` bounds the covered bytes of each worker; `nowMs` is monotonic. */
  constructor(model: string, maxBytes: number, nowMs: () => number) {
    this.model = model;
    this.#maxBytes = maxBytes;
    this.#nowMs = nowMs;
    this.#startedAtMs = nowMs();
    this.#usedAtMs = this.#startedAtMs;
  }

  /** Time of the last insert, by the index's clock. */
  get usedAtMs(): number {
    return this.#usedAtMs;
  }

  /** A smaller bound is reached over the next inserts. */
  setMaxBytes(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  /** Who holds how much of `key`. Changes nothing; the result is valid until the next call of any method. */
  match(key: PrefixKey): PrefixMatch<W> {
    const limit = this.#indexedBlocks(key);
    this.#tree.walk(key, limit, this.#path);
    return new PrefixMatch(this.#tree, this.#owners, this.#path, key.ends[limit - 1] ?? 0);
  }

  /**
   * Lets `worker` own `key`, tentatively where it does not yet, and counts the request as hit or miss. Returns the
   * claim to what is tentative, `null` when nothing is.
   */
  insert(key: PrefixKey, worker: W): AffinityClaim | null {
    const limit = this.#indexedBlocks(key);
    if (limit === 0) return null;
    const owner = this.#owners.find(worker) ?? this.#addOwner(worker);
    const path = this.#path;
    this.#tree.walk(key, limit, path);
    this.#countRequest(key, limit, owner);
    const tentative = this.#own(key, limit, owner);
    for (let level = path.length - 1; level >= 0; level -= 1) this.#tree.touch(path.nodes[level] ?? noNode);
    this.#evict(owner);
    this.#cleanUp();
    return tentative === null ? null : this.#claim(owner, tentative);
  }

  /** Ends all that `worker` owns, at once; claims to it end with it. */
  removeOwner(worker: W): void {
    if (this.#owners.depart(worker) === undefined || this.#owners.size > 0) return;
    this.#tree = new PrefixTree();
    this.#tentative = new TentativeOwners(this.#tree.nodes);
    this.#owners = new OwnerRegistry<W>();
  }

  coveredBytes(worker: W): number {
    return this.#owners.find(worker)?.coveredBytes ?? 0;
  }

  /** `members` are the workers to list, owners or not. */
  stats(members: Iterable<W>): CacheStats<W> {
    const total = this.#tree.coveredBytes;
    return {
      model: this.model,
      coveredBytes: total,
      blocks: this.#tree.blocks,
      nodes: this.#tree.nodes.count,
      bytes: this.#tree.bytes,
      maxBytes: this.#maxBytes,
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
      hitRate: this.#hitRate.rate(this.#nowMs()),
      workers: Array.from(members, (worker) => {
        const owner = this.#owners.find(worker);
        const coveredBytes = owner?.coveredBytes ?? 0;
        return { worker, coveredBytes, share: total === 0 ? 0 : coveredBytes / total, hits: owner?.hits ?? 0 };
      }),
    };
  }

  tree(depth: number, limit: number): readonly CacheTreeNode[] {
    const liveOwners = (node: NodeId): Owner<W>[] =>
      this.#tree.owners.slots(node).flatMap((slot) => {
        const owner = this.#owners.at(slot);
        return owner?.alive === true ? [owner] : [];
      });
    return heaviestPrefixes(this.#tree, depth, limit, {
      workers: (node) => liveOwners(node).map((owner) => owner.worker.id),
      confirmed: (node) => liveOwners(node).some((owner) => this.#tentative.find(node, owner.slot) === null),
      lastHitMs: (node) => {
        const tenths = this.#tree.nodes.lastHit(node);
        return tenths === 0 ? null : Math.max(0, (this.#tenths() - tenths) * 100);
      },
    });
  }

  /** Blocks of `key` that the index takes: all, but of one prompt no more than its part of the bound. */
  #indexedBlocks(key: PrefixKey): number {
    const largest = Math.max(this.#maxBytes * largestPart, Math.min(this.#maxBytes, smallPromptBytes));
    let low = 0;
    let high = Math.min(key.count, maxBlocks);
    if (high === 0 || (key.ends[high - 1] ?? 0) <= largest) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((key.ends[middle] ?? 0) <= largest) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #addOwner(worker: W): Owner<W> {
    const owner = this.#owners.add(worker);
    this.#tree.recency.addHand(owner);
    return owner;
  }

  /** Before the insert: what the path says the chosen worker already had. */
  #countRequest(key: PrefixKey, limit: number, owner: Owner<W>): void {
    let matched = 0;
    for (let level = 0; level < this.#path.length && this.#tree.owners.has(this.#path.nodes[level] ?? noNode, owner.slot); level += 1) {
      matched = this.#path.bytes[level] ?? 0;
    }
    if (matched > 0) {
      this.#hits += 1;
      owner.hits += 1;
    } else {
      this.#misses += 1;
    }
    this.#usedAtMs = this.#nowMs();
    this.#hitRate.add(this.#usedAtMs, matched, key.ends[limit - 1] ?? 0);
  }

  /** Makes `owner` an owner all along `key`; the path then ends with the key. Returns its last tentative ownership. */
  #own(key: PrefixKey, limit: number, owner: Owner<W>): TentativeOwner | null {
    const path = this.#path;
    this.#splitPartial();
    const nodes = this.#tree.nodes;
    const now = this.#tenths();
    let tentative: TentativeOwner | null = null;
    for (let level = 0; level < path.length; level += 1) {
      const node = path.nodes[level] ?? noNode;
      if (this.#tree.owners.has(node, owner.slot)) {
        tentative = this.#tentative.find(node, owner.slot);
        nodes.set(node, field.hits, nodes.get(node, field.hits) + 1);
        nodes.setLastHit(node, now);
      } else {
        tentative = this.#addOwnership(node, owner, tentative);
      }
    }
    const matchedBlocks = path.length === 0 ? 0 : (path.blocks[path.length - 1] ?? 0);
    if (matchedBlocks < limit) {
      const parent = path.length === 0 ? rootNode : (path.nodes[path.length - 1] ?? rootNode);
      const node = this.#tree.append(parent, key, matchedBlocks, limit);
      tentative = this.#addOwnership(node, owner, tentative);
    }
    return tentative;
  }

  /** Ends the path at a node's end, by parting the node in which it ends. */
  #splitPartial(): void {
    const path = this.#path;
    if (!path.partial) return;
    const last = path.length - 1;
    const node = path.nodes[last] ?? noNode;
    const before = last === 0 ? 0 : (path.blocks[last - 1] ?? 0);
    const upper = this.#tree.split(node, (path.blocks[last] ?? 0) - before, path.bytes[last] ?? 0);
    this.#tentative.split(node, upper);
    path.nodes[last] = upper;
    path.partial = false;
  }

  #addOwnership(node: NodeId, owner: Owner<W>, parent: TentativeOwner | null): TentativeOwner {
    this.#tree.owners.add(node, owner.slot);
    owner.coveredBytes += this.#tree.nodes.runBytes(node);
    return this.#tentative.add(node, owner.slot, parent);
  }

  #claim(owner: Owner<W>, tentative: TentativeOwner): AffinityClaim {
    tentative.references += 1;
    let ended = false;
    const end = (): TentativeOwner | null => {
      if (ended) return null;
      ended = true;
      return owner.alive ? this.#tentative.resolve(tentative) : null;
    };
    return {
      confirm: () => {
        const at = end();
        if (at !== null) this.#confirm(at);
      },
      withdraw: () => {
        const at = end();
        if (at !== null) this.#withdraw(owner, at);
      },
    };
  }

  #confirm(tentative: TentativeOwner): void {
    const nodes = this.#tree.nodes;
    let node = tentative.node;
    // What has become confirmed may now have the same owners as its parent.
    for (let left = this.#tentative.confirm(tentative); left > 0 && node !== rootNode; left -= 1) {
      const parent = nodes.get(node, field.parent);
      if (!this.#tree.joinOnlyChild(parent)) node = parent;
    }
  }

  #withdraw(owner: Owner<W>, from: TentativeOwner): void {
    from.references -= 1;
    let at: TentativeOwner | null = from;
    while (at !== null && at.references === 0) {
      this.#takeFrom(at.node, owner);
      at = at.movedTo;
    }
  }

  /** Ends the ownership of `node`, below which `owner` owns nothing; the node goes with its last owner. */
  #takeFrom(node: NodeId, owner: Owner<W>): void {
    const tree = this.#tree;
    const tentative = this.#tentative.find(node, owner.slot);
    if (tentative !== null) this.#tentative.remove(tentative);
    owner.coveredBytes -= tree.nodes.runBytes(node);
    tree.owners.remove(node, owner.slot);
    tree.joinOnlyChild(tree.nodes.get(node, field.ownerCount) === 0 ? tree.remove(node) : node);
  }

  #evict(owner: Owner<W>): void {
    let steps = evictionSteps;
    while (owner.coveredBytes > this.#maxBytes && steps > 0) {
      const taken = this.#step(owner);
      if (taken === undefined) return;
      if (taken) this.#evictions += 1;
      steps -= taken ? removalSteps : 1;
    }
  }

  #cleanUp(): void {
    // More steps than nodes were touched, so that the hand gains on the newest node.
    for (let steps = cleaningSteps + 2 * this.#path.length; steps > 0; ) {
      const owner = this.#owners.firstDeparted;
      if (owner === undefined) return;
      const taken = this.#step(owner);
      if (taken === undefined) {
        this.#owners.release();
        this.#tree.recency.removeHand(owner);
      }
      steps -= taken === true ? removalSteps : 1;
    }
  }

  /** Looks at the oldest node that the owner's hand has not passed and takes it away; `undefined` when all are passed. */
  #step(owner: Owner<W>): boolean | undefined {
    const node = this.#tree.recency.next(owner);
    if (node === noNode) return undefined;
    if (this.#tree.owners.has(node, owner.slot)) {
      this.#takeFrom(node, owner);
      return true;
    }
    this.#tree.recency.advance(owner, node);
    return false;
  }

  /** Age of the index in tenths of seconds, from 1. */
  #tenths(): number {
    return Math.floor((this.#nowMs() - this.#startedAtMs) / 100) + 1;
  }
}
