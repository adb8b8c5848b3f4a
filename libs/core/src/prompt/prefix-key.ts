/**
 * The prefix key of one prompt: its blocks, each identified by a chained 64-bit hash, so that two prompts
 * have equal hashes exactly as far as their bytes are equal from the start.
 *
 * Block `i` covers prompt bytes `[ends[i - 1] ?? 0, ends[i])`; its hash covers bytes `[0, ends[i])`, the salt included.
 * The prompt itself is not kept.
 */
export interface PrefixKey {
  /** Number of blocks; the arrays may be longer. */
  readonly count: number;
  /** Low 32 bits of the chained hash after each block. */
  readonly lo: Uint32Array;
  /** High 32 bits of the chained hash after each block. */
  readonly hi: Uint32Array;
  /** Covered prompt bytes up to and including each block, strictly growing. */
  readonly ends: Float64Array;
}

/** The key of a prompt without text: matches nothing, covers nothing. */
export const emptyPrefixKey: PrefixKey = {
  count: 0,
  lo: new Uint32Array(0),
  hi: new Uint32Array(0),
  ends: new Float64Array(0),
};

/** Bytes the blocks of `key` cover; 0 for the empty key. */
export function keyedBytes(key: PrefixKey): number {
  return key.count === 0 ? 0 : (key.ends[key.count - 1] ?? 0);
}
