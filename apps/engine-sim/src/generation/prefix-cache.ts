import { LRUCache } from 'lru-cache';

/** A block-wise prefix cache that forgets the block unused for longest. */
export class PrefixCache {
  readonly capacity: number;
  readonly #blocks: LRUCache<number, true>;
  readonly #blockSize: number;
  #queriedTokens = 0;
  #hitTokens = 0;

  constructor(capacity: number, blockSize: number) {
    this.capacity = capacity;
    this.#blockSize = blockSize;
    this.#blocks = new LRUCache({ max: capacity });
  }

  get size(): number {
    return this.#blocks.size;
  }

  get queriedTokens(): number {
    return this.#queriedTokens;
  }

  get hitTokens(): number {
    return this.#hitTokens;
  }

  /** Tokens of the prompt that need no computing. The last token is always computed, as in vLLM. */
  lookup(blockKeys: readonly number[], promptTokens: number): number {
    const usable = Math.min(blockKeys.length, Math.floor(Math.max(0, promptTokens - 1) / this.#blockSize));
    let blocks = 0;
    for (const key of blockKeys) {
      if (blocks === usable || this.#blocks.get(key) === undefined) break;
      blocks += 1;
    }
    this.#queriedTokens += promptTokens;
    this.#hitTokens += blocks * this.#blockSize;
    return blocks * this.#blockSize;
  }

  /** Later blocks are stored first, so that a prefix outlives what builds on it. */
  insert(blockKeys: readonly number[]): void {
    for (let at = Math.min(blockKeys.length, this.capacity) - 1; at >= 0; at -= 1) {
      const key = blockKeys[at];
      if (key !== undefined) this.#blocks.set(key, true);
    }
  }

  clear(): void {
    this.#blocks.clear();
  }
}
