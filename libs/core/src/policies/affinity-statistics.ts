import { type PolicyWorker } from './policy.js';

/** What is believed to lie in the caches of one role's workers, for one model. */
export interface CacheStats<W extends PolicyWorker> {
  readonly model: string;
  /** Prompt bytes that some worker holds, counted once. Bytes of departed workers go within the next requests. */
  readonly coveredBytes: number;
  readonly blocks: number;
  readonly nodes: number;
  /** Memory of the index. */
  readonly bytes: number;
  /** Most covered bytes of each worker. */
  readonly maxBytes: number;
  /** Requests whose chosen worker matched at least one block. */
  readonly hits: number;
  /** Requests with a prompt whose chosen worker matched none. */
  readonly misses: number;
  /** Runs of blocks that a worker lost to the bound. */
  readonly evictions: number;
  /** Matched / keyed bytes over 15 minutes, 0..1. */
  readonly hitRate: number;
  /** All members, in no order. */
  readonly workers: readonly WorkerCacheStats<W>[];
}

export interface WorkerCacheStats<W extends PolicyWorker> {
  readonly worker: W;
  readonly coveredBytes: number;
  /** Its part of all covered bytes, 0..1; with copies the parts sum up to more than 1. */
  readonly share: number;
  readonly hits: number;
}

/** One run of blocks and what follows it. */
export interface CacheTreeNode {
  /** Hash of the run's first block, 16 hex digits. With the prompt before it, it names the run. */
  readonly hash: string;
  /** Prompt bytes from the start to the end of the run. */
  readonly depthBytes: number;
  readonly blocks: number;
  /** Requests whose chosen worker held it already. */
  readonly hits: number;
  /** Since the last of them; `null` = never. */
  readonly lastHitMs: number | null;
  /** Some worker has shown that it holds it. */
  readonly confirmed: boolean;
  /** Ids. */
  readonly workers: readonly string[];
  readonly children: readonly CacheTreeNode[];
}

/** What a policy with a prefix index tells about it. */
export interface AffinityStatistics<W extends PolicyWorker> {
  /** One entry a model. O(models × workers). */
  cacheStats(): readonly CacheStats<W>[];
  /** The heaviest prefixes of `model`, at most `limit` nodes in all and `depth` nodes one below the other. */
  cacheTree(model: string, depth: number, limit: number): readonly CacheTreeNode[];
  /** Prompt bytes `worker` is believed to hold, of one model or of all. */
  coveredBytes(worker: W, model?: string): number;
}
