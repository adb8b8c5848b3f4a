import fc from 'fast-check';
import { encodeUtf8 } from '../json/utf8.js';
import { emptyPrefixKey, keyedBytes, type PrefixKey } from './prefix-key.js';
import { prefixKeyOf } from './prefix-key-of.js';
import { type PromptApi } from './prompt-text.js';
import { scanRequest, type ScannedRequest } from './request-scan.js';

function keyOf(body: unknown, api: PromptApi = 'completions', shift = 0): PrefixKey {
  const bytes = encodeUtf8(typeof body === 'string' ? body : JSON.stringify(body));
  const pool = new Uint8Array(bytes.length + 8);
  pool.set(bytes, shift);
  const scan = scanRequest(pool.subarray(shift, shift + bytes.length), api);
  if (scan.kind !== 'request') throw new Error(scan.message);
  return prefixKeyOf(scan.request);
}

/** A request whose prompt is these very bytes, which JSON text cannot hold. */
function rawPrompt(bytes: Uint8Array): ScannedRequest {
  const ranges = [{ start: 0, end: bytes.length, media: false }];
  return { document: { bytes, open: 0, members: [] }, model: null, stream: false, n: 1, cacheSalt: null, prompt: { kind: 'text', ranges }, sessionKey: null };
}

const promptKey = (prompt: unknown) => keyOf({ model: 'm', prompt });

function blocks(key: PrefixKey): string[] {
  return Array.from({ length: key.count }, (_, i) => `${key.ends[i]!}:${key.lo[i]!}:${key.hi[i]!}`);
}

/** Bytes up to which two keys name the same prefix. */
function commonBytes(a: PrefixKey, b: PrefixKey): number {
  const other = blocks(b);
  let common = 0;
  blocks(a).every((block, i) => block === other[i] && ((common = a.ends[i]!), true));
  return common;
}

/** Every block boundary of a long text, by the documented sizes. */
function boundaryBefore(offset: number): number {
  const size = offset < 4096 ? 64 : offset < 65_536 ? 256 : 1024;
  return offset - (offset % size);
}

const plain = (length: number, seed = 7) => {
  let text = '';
  for (let i = 0, x = seed; text.length < length; i++) {
    x = (Math.imul(x, 1_103_515_245) + 12_345) >>> 0;
    text += String.fromCharCode(97 + ((x >>> 16) % 26));
  }
  return text;
};
const long = plain(200_000);

describe('the prefix key of text', () => {
  it('cuts blocks that grow with the offset, the last one being partial', () => {
    const key = promptKey(long.slice(0, 70_001));
    const ends = [...key.ends.subarray(0, key.count)];
    expect(ends.slice(0, 2)).toEqual([64, 128]);
    expect(ends[63]).toBe(4096);
    expect(ends[64]).toBe(4352);
    expect(ends[64 + 239]).toBe(65_536);
    expect(ends[64 + 240]).toBe(66_560);
    expect(ends.at(-1)).toBe(70_001);
    expect(ends).toHaveLength(64 + 240 + 5);
    expect(keyedBytes(promptKey('abc'))).toBe(3);
    expect([...promptKey(long.slice(0, 128)).ends]).toEqual([64, 128]);
  });

  it('stops at 4,096 blocks', () => {
    const key = promptKey('x'.repeat(5 << 20));
    expect(key.count).toBe(4096);
    expect(keyedBytes(key)).toBe(65_536 + (4096 - 304) * 1024);
  });

  it('is equal exactly as far as the texts are', () => {
    const length = fc.oneof({ arbitrary: fc.nat(700), weight: 3 }, fc.nat(9000), fc.nat(100_000));
    fc.assert(
      fc.property(length, length, fc.nat(25), (shared, rest, letter) => {
        const prefix = long.slice(0, shared);
        const other = String.fromCharCode(97 + letter);
        fc.pre(long[shared] !== other);
        const a = promptKey(prefix + long.slice(shared, shared + 1 + rest));
        const b = promptKey(prefix + other + long.slice(shared + 1, shared + 1 + rest));
        expect(commonBytes(a, b)).toBe(boundaryBefore(shared));
        const hashes = new Set(blocks(a));
        expect(blocks(b).filter((block) => hashes.has(block))).toHaveLength(blocks(a).findIndex((block, i) => block !== blocks(b)[i]));
      }),
      { numRuns: 120 },
    );
  });

  it('does not change with where the body lies in memory', () => {
    for (let shift = 0; shift < 8; shift++) expect(keyOf({ prompt: long.slice(0, 5000) }, 'completions', shift)).toEqual(keyOf({ prompt: long.slice(0, 5000) }));
  });

  it('tells short texts and trailing zeros apart', () => {
    const keys = ['a', 'ab', 'abc', 'abcd', 'abcde', 'a\\u0000', 'a '].map((text) => keyOf(`{"prompt":"${text}"}`));
    const zeros = [1, 2, 3, 4].map((length) => prefixKeyOf(rawPrompt(new Uint8Array(length))));
    for (const lane of ['lo', 'hi'] as const) {
      expect(new Set(keys.map((key) => key[lane][0])).size).toBe(keys.length);
      expect(new Set(zeros.map((key) => key[lane][0])).size).toBe(zeros.length);
    }
  });

  it('spreads over both lanes: no collision and every bit used among 20,000 near-equal prompts', () => {
    const lo = new Set<number>();
    const hi = new Set<number>();
    const ones = new Array<number>(64).fill(0);
    const count = 20_000;
    for (let i = 0; i < count; i++) {
      const key = promptKey(`${'p'.repeat(40)}${i}`);
      lo.add(key.lo[0]!);
      hi.add(key.hi[0]!);
      for (let bit = 0; bit < 32; bit++) {
        ones[bit]! += (key.lo[0]! >>> bit) & 1;
        ones[bit + 32]! += (key.hi[0]! >>> bit) & 1;
      }
    }
    // Birthday bound of a good 32-bit lane: 0.05 expected collisions.
    expect(count - lo.size).toBeLessThanOrEqual(3);
    expect(count - hi.size).toBeLessThanOrEqual(3);
    for (const share of ones) expect(Math.abs(share / count - 0.5)).toBeLessThan(0.03);
  });

  it('is seeded by model and cache_salt, which do not run into each other', () => {
    const first = (body: object) => blocks(keyOf({ prompt: 'hello', ...body }))[0];
    const salts = [{}, { model: 'a' }, { model: 'ab' }, { model: 'a', cache_salt: 'b' }, { cache_salt: 'ab' }, { cache_salt: 'a' }].map(first);
    expect(new Set(salts).size).toBe(salts.length);
    expect(first({ model: 'a', temperature: 0 })).toBe(first({ model: 'a', stream: true }));
  });
});

describe('the prefix key of a conversation', () => {
  const turn = (role: string, content: unknown) => ({ role, content });
  const chat = (messages: unknown[], more: object = {}) => keyOf({ model: 'm', messages, ...more }, 'chat');

  it('continues in the next turn, to the last whole block', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3000), { minLength: 1, maxLength: 6 }), fc.nat(2000), (lengths, more) => {
        const messages = lengths.map((length, i) => turn(i % 2 === 0 ? 'user' : 'assistant', plain(length, i + 1)));
        const before = chat(messages);
        const after = chat([...messages, turn('user', plain(more, 99))]);
        expect(commonBytes(before, after)).toBeGreaterThanOrEqual(boundaryBefore(keyedBytes(before)));
      }),
    );
  });

  it('does not depend on where members stand, but on tools', () => {
    const messages = [turn('user', plain(300))];
    const tools = [{ type: 'function', function: { name: 'f' } }];
    expect(keyOf({ model: 'm', tools, messages, n: 1 }, 'chat')).toEqual(keyOf({ messages, n: 2, tools, model: 'm' }, 'chat'));
    expect(commonBytes(chat(messages), chat(messages, { tools }))).toBe(0);
  });

  it('makes one block of an image, which counts by all its bytes', () => {
    const image = (data: string) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } });
    const ask = (data: string, text = 'what is it?') => chat([turn('user', [image(data), { type: 'text', text }])]);
    const picture = plain(500_001);
    const key = ask(picture);
    expect(key.count).toBeLessThan(8);
    expect(keyedBytes(key)).toBeLessThan(2048);
    const other = ask(`${picture.slice(0, -1)}!`);
    expect(commonBytes(key, other)).toBe(key.ends[0]);
    const again = ask(picture, 'and what is behind it? '.repeat(20));
    expect(commonBytes(key, again)).toBeGreaterThan(1024);
    expect(commonBytes(ask(picture), ask(picture))).toBe(keyedBytes(key));
  });

  it('has room for many images', () => {
    const image = { type: 'image_url', image_url: { url: `data:${plain(1500)}` } };
    const messages = Array.from({ length: 60 }, (_, i) => turn('user', [{ type: 'text', text: plain(i * 7) }, image, image]));
    const key = chat(messages);
    expect(keyedBytes(key)).toBeGreaterThan(120 * 1024);
    const ends = [...key.ends.subarray(0, key.count)];
    expect(ends.every((end, i) => end > (ends[i - 1] ?? 0))).toBe(true);
    const more = chat([...messages, turn('user', 'x')]);
    expect(commonBytes(key, more)).toBe(ends.at(-2));
  });
});

describe('the prefix key of token ids', () => {
  const ids = Array.from({ length: 100 }, (_, i) => (i * 7919) % 128_000);

  it('takes 16 ids a block, whatever the spacing', () => {
    const key = promptKey(ids);
    expect(key.count).toBe(7);
    expect([...key.ends.subarray(0, 7)]).toEqual([64, 128, 192, 256, 320, 384, 400]);
    expect(blocks(keyOf(`{"model":"m","prompt":${JSON.stringify(ids, null, 2)}}`))).toEqual(blocks(key));
  });

  it('is equal exactly as far as the ids are', () => {
    fc.assert(
      fc.property(fc.nat(99), fc.nat(0xfffffffe), (at, id) => {
        fc.pre(id !== ids[at]);
        expect(commonBytes(promptKey(ids), promptKey(ids.with(at, id)))).toBe((at - (at % 16)) * 4);
      }),
    );
  });

  it('keeps lists apart and a list of one list together with the list', () => {
    expect(blocks(promptKey([ids]))).toEqual(blocks(promptKey(ids)));
    expect(commonBytes(promptKey([[1, 2], [3]]), promptKey([1, 2, 3]))).toBe(0);
    expect(commonBytes(promptKey([[1, 2], [3]]), promptKey([[1], [2, 3]]))).toBe(0);
    expect(commonBytes(promptKey([ids, [1]]), promptKey([ids, [2]]))).toBe(384);
  });

  it('keys 4,096 blocks of a long list', () => {
    expect(promptKey(new Array(70_000).fill(5)).count).toBe(4096);
  });

  it.each([[[1.5]], [[-1]], [[4294967295]], [[[1], ['a']]], [[[[1]]]], [[[]]]])('gives no key for %j', (prompt) => {
    expect(promptKey(prompt)).toBe(emptyPrefixKey);
  });
});

describe('the key of no prompt', () => {
  it.each(['', [], null, ['a', 1], 7])('is empty for %j', (prompt) => {
    expect(promptKey(prompt)).toBe(emptyPrefixKey);
    expect(keyedBytes(promptKey(prompt))).toBe(0);
  });
});
