/** Bytes in one token of the simulated tokeniser. */
export const bytesPerToken = 4;

/** A tokenised prompt. */
export interface PromptTokens {
  readonly count: number;
  /** One key a full block, each depending on everything before it: equal prefixes have equal keys. */
  readonly blockKeys: readonly number[];
  /** Of the whole prompt. */
  readonly hash: string;
  /** 32 bits of the hash, to derive text from. */
  readonly seed: number;
}

/** Token ids of a text: four UTF-8 bytes each, little-endian, the last one padded with zeros. */
export function encodeText(text: string): number[] {
  const bytes = Buffer.from(text, 'utf8');
  const padded = Buffer.alloc(Math.ceil(bytes.length / bytesPerToken) * bytesPerToken);
  bytes.copy(padded);
  const ids: number[] = [];
  for (let at = 0; at < padded.length; at += bytesPerToken) ids.push(padded.readUInt32LE(at));
  return ids;
}

/** The reverse of `encodeText`. */
export function decodeTokens(ids: readonly number[]): string {
  const bytes = Buffer.alloc(ids.length * bytesPerToken);
  ids.forEach((id, index) => bytes.writeUInt32LE(id >>> 0, index * bytesPerToken));
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** Tokenises in one pass; `salt` separates prompts that must not share cache, such as those of different models. */
export function tokenize(prompt: string | readonly number[], blockSize: number, salt: string): PromptTokens {
  const bytes = typeof prompt === 'string' ? Buffer.from(prompt, 'utf8') : Buffer.from(Uint32Array.from(prompt).buffer);
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  const mix = (word: number): void => {
    high = Math.imul(high ^ word, 0x85ebca6b);
    high ^= high >>> 15;
    low = Math.imul(low ^ word ^ (high >>> 7), 0xc2b2ae35);
    low ^= low >>> 13;
  };
  for (let at = 0; at < salt.length; at += 1) mix(salt.charCodeAt(at));
  const whole = bytes.length - (bytes.length % bytesPerToken);
  const blockKeys: number[] = [];
  let inBlock = 0;
  for (let at = 0; at < whole; at += bytesPerToken) {
    mix(bytes.readUInt32LE(at));
    inBlock += 1;
    if (inBlock === blockSize) {
      blockKeys.push((high >>> 0) * 0x20_0000 + (low >>> 11));
      inBlock = 0;
    }
  }
  for (let at = whole; at < bytes.length; at += 1) mix((bytes[at] ?? 0) + 0x100);
  mix(bytes.length);
  const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, '0');
  return { count: Math.ceil(bytes.length / bytesPerToken), blockKeys, hash: hex(high) + hex(low), seed: (high ^ low) >>> 0 };
}
