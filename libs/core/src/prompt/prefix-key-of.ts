import { type JsonRange } from '../json/json-value.js';
import { BlockHasher, textBlocks, tokenBlocks } from './block-hasher.js';
import { emptyPrefixKey, type PrefixKey } from './prefix-key.js';
import { type PromptRange } from './prompt-text.js';
import { type ScannedRequest } from './request-scan.js';

const largestTokenId = 0xfffffffe;

/**
 * The prefix key of a request's prompt, salted with its model (a LoRA adapter is a model name of its own) and
 * `cache_salt`, because engines share cached prefixes only within both. One pass over the prompt's bytes; the empty
 * key for a prompt that is empty or of no known shape. Never throws.
 */
export function prefixKeyOf({ document, model, cacheSalt, prompt }: ScannedRequest): PrefixKey {
  const salt = `${model ?? ''}\0${cacheSalt ?? ''}`;
  switch (prompt.kind) {
    case 'none':
      return emptyPrefixKey;
    case 'text':
      return textKey(document.bytes, prompt.ranges, salt);
    case 'tokens':
      return tokenKey(document.bytes, prompt.range, salt);
  }
}

function textKey(bytes: Uint8Array, ranges: readonly PromptRange[], salt: string): PrefixKey {
  let textBytes = 0;
  let media = 0;
  for (const range of ranges) {
    if (range.media) media++;
    else textBytes += range.end - range.start;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const hasher = new BlockHasher(salt, textBlocks(textBytes, media));
  for (const range of ranges) {
    if (range.media) hasher.media(view, range.start, range.end);
    else hasher.text(view, range.start, range.end);
  }
  return hasher.finish();
}

/** Reads ids from the raw bytes of a checked array, or array of arrays; anything but plain ids gives the empty key. */
function tokenKey(bytes: Uint8Array, { start, end }: JsonRange, salt: string): PrefixKey {
  // An id takes two bytes at least: a digit and what separates it.
  const hasher = new BlockHasher(salt, tokenBlocks((end - start) / 2));
  let depth = 0;
  let id = -1;
  let seen = false;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte >= 0x30 && byte <= 0x39) {
      id = (id < 0 ? 0 : id * 10) + (byte - 0x30);
      continue;
    }
    if (id >= 0) {
      if (id > largestTokenId) return emptyPrefixKey;
      hasher.token(id);
      seen = true;
      id = -1;
    }
    if (byte === 0x5b) {
      if (++depth > 2) return emptyPrefixKey;
      if (seen) hasher.tokenList();
    } else if (byte === 0x5d) {
      depth--;
    } else if (byte > 0x20 && byte !== 0x2c) {
      return emptyPrefixKey;
    }
  }
  return hasher.finish();
}
