import { mix32 } from './mix32.js';
import { type PolicyRequest } from './policy.js';

/** Two independent 32-bit lanes of one hash. */
export interface Hash64 {
  readonly lo: number;
  readonly hi: number;
}

/**
 * Blocks of the prefix key that stand for a request without a session: 1 KiB of text. Fewer would send everything
 * behind one system prompt to one worker; more would part the turns of a conversation.
 */
const keyBlocks = 16;

/**
 * Hashes `text` by UTF-16 code units, the same on every machine and start. Two multiply-xor lanes with crossed
 * finalisers, after cyrb53 (bryc, public domain). O(length).
 */
export function hashText(text: string): Hash64 {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
  }
  const lo = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  const hi = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(lo ^ (lo >>> 13), 0xc2b2ae35);
  return { lo: mix32(lo), hi: mix32(hi) };
}

/** What hash policies place a request by: its session, else the beginning of its prompt, else `null`. */
export function requestHash(request: PolicyRequest): Hash64 | null {
  if (request.sessionKey !== null) return hashText(request.sessionKey);
  const key = request.prefixKey;
  if (key.count === 0) return null;
  const last = Math.min(key.count, keyBlocks) - 1;
  return { lo: mix32(key.lo[last] ?? 0), hi: mix32(key.hi[last] ?? 0) };
}
