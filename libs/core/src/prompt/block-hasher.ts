import { emptyPrefixKey, type PrefixKey } from './prefix-key.js';

/** Most blocks of one key: about 3.8 MiB of text. What follows is not keyed. */
const maxBlocks = 4096;
/** Bytes that a media stretch counts for: in the order of its share of the context, not of its encoding. */
const mediaWeightBytes = 1024;
/** Mixed in where a list of token ids begins anew; not a token id. */
const listMark = 0xffffffff;

const tokensPerBlock = 16;
/** Bytes of text one token id stands for, so that text and id prompts weigh alike. */
const bytesPerToken = 4;

/**
 * Chained block hashes of one prompt, in one pass and without a call per block.
 *
 * Two independent 32-bit lanes, each a MurmurHash3 x86_32 body (public domain, Austin Appleby) with its own constants,
 * run over little-endian words of the concatenated stretches; where a block ends, both are finalised with the offset
 * and the chain goes on. Blocks end at multiples of 64 bytes up to 4 KiB, 256 up to 64 KiB, 1 KiB beyond, around media
 * stretches, and at the end. Not keyed against adversaries: a collision misplaces a request and nothing more.
 */
export class BlockHasher {
  readonly #lo: Uint32Array;
  readonly #hi: Uint32Array;
  readonly #ends: Float64Array;
  #count = 0;
  #a: number;
  #b: number;
  /** Bytes covered so far. Word boundaries are its multiples of four. */
  #offset = 0;
  #blockEnd = 64;
  /** Bytes of the word that is not complete yet. */
  #pending = 0;

  /** Makes room for `blocks` blocks, which must be enough. Equal salts seed equal chains. */
  constructor(salt: string, blocks: number) {
    const capacity = Math.min(maxBlocks, blocks);
    this.#lo = new Uint32Array(capacity);
    this.#hi = new Uint32Array(capacity);
    this.#ends = new Float64Array(capacity);
    let a = 0x9747b28c;
    let b = 0x3c6ef372;
    for (let i = 0; i < salt.length; i++) {
      const unit = salt.charCodeAt(i);
      a = mixA(a, unit);
      b = mixB(b, unit);
    }
    this.#a = mixA(a, salt.length);
    this.#b = mixB(b, salt.length);
  }

  /** Continues the prompt with `view[start, end)`. */
  text(view: DataView, start: number, end: number): void {
    let i = start;
    while (i < end && this.#count < maxBlocks) {
      if ((this.#offset & 3) !== 0 || end - i < 4) {
        this.#byte(view.getUint8(i++));
        continue;
      }
      const words = Math.min((this.#blockEnd - this.#offset) >> 2, (end - i) >> 2);
      this.#words(view, i, words);
      i += words * 4;
      this.#offset += words * 4;
      if (this.#offset === this.#blockEnd) this.#closeBlock();
    }
  }

  /** Continues with a stretch that is one block of fixed weight, identified by all its bytes. */
  media(view: DataView, start: number, end: number): void {
    this.#flush();
    if (this.#count >= maxBlocks) return;
    const words = (end - start) >> 2;
    this.#words(view, start, words);
    for (let i = start + words * 4; i < end; i++) this.#mix(view.getUint8(i));
    this.#mix(end - start);
    this.#offset = ((this.#offset + 3) & ~3) + mediaWeightBytes;
    this.#closeBlock();
  }

  /** Continues with a token id, an unsigned 32-bit number below 2^32 - 1. */
  token(id: number): void {
    if (this.#count >= maxBlocks) return;
    this.#mix(id);
    this.#offset += bytesPerToken;
    if (this.#offset % (tokensPerBlock * bytesPerToken) === 0) this.#closeBlock();
  }

  /** The next token id begins another list. */
  tokenList(): void {
    this.#mix(listMark);
  }

  finish(): PrefixKey {
    this.#flush();
    if (this.#count === 0) return emptyPrefixKey;
    return { count: this.#count, lo: this.#lo, hi: this.#hi, ends: this.#ends };
  }

  #words(view: DataView, start: number, count: number): void {
    let a = this.#a;
    let b = this.#b;
    const end = start + count * 4;
    for (let i = start; i < end; i += 4) {
      const word = view.getInt32(i, true);
      a = mixA(a, word);
      b = mixB(b, word);
    }
    this.#a = a;
    this.#b = b;
  }

  #mix(word: number): void {
    this.#a = mixA(this.#a, word);
    this.#b = mixB(this.#b, word);
  }

  #byte(byte: number): void {
    this.#pending |= byte << ((this.#offset & 3) * 8);
    this.#offset++;
    if ((this.#offset & 3) !== 0) return;
    this.#mix(this.#pending);
    this.#pending = 0;
    if (this.#offset === this.#blockEnd) this.#closeBlock();
  }

  /** Ends a block that is not full; nothing when the last one has just ended. */
  #flush(): void {
    const covered = this.#count === 0 ? 0 : (this.#ends[this.#count - 1] ?? 0);
    if (this.#offset === covered || this.#count >= maxBlocks) return;
    if ((this.#offset & 3) !== 0) {
      this.#mix(this.#pending);
      this.#pending = 0;
    }
    this.#closeBlock();
  }

  #closeBlock(): void {
    const offset = this.#offset;
    this.#lo[this.#count] = finalMix(this.#a ^ offset);
    this.#hi[this.#count] = finalMix(this.#b ^ offset);
    this.#ends[this.#count] = offset;
    this.#count++;
    const size = blockBytesAt(offset);
    this.#blockEnd = offset - (offset % size) + size;
  }
}

/** Size of the block that begins at `offset`. */
function blockBytesAt(offset: number): number {
  return offset < 4096 ? 64 : offset < 65536 ? 256 : 1024;
}

/** Room for `textBytes` of text that `media` media stretches interrupt; each can cut two text blocks short. */
export function textBlocks(textBytes: number, media: number): number {
  const interruptions = 3 * media;
  if (textBytes <= 4096) return interruptions + Math.ceil(textBytes / 64);
  if (textBytes <= 65536) return interruptions + 48 + Math.ceil(textBytes / 256);
  return interruptions + 240 + Math.ceil(textBytes / 1024);
}

/** Room for `tokens` token ids. */
export function tokenBlocks(tokens: number): number {
  return Math.ceil(tokens / tokensPerBlock);
}

function mixA(state: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const h = state ^ Math.imul(k, 0x1b873593);
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

function mixB(state: number, word: number): number {
  let k = Math.imul(word, 0x239b961b);
  k = (k << 17) | (k >>> 15);
  const h = state ^ Math.imul(k, 0xab0e9789);
  return (Math.imul((h << 11) | (h >>> 21), 9) + 0x561ccd1b) | 0;
}

function finalMix(state: number): number {
  let h = state;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
