import { type PrefixKey } from '../../prompt/prefix-key.js';
import { mix32 } from '../mix32.js';
import { keyOf, type TestWorker, testWorker, testWorkers } from '../policy.contract-suite.js';
import { PrefixIndex } from './prefix-index.js';

const [a, b, c] = testWorkers(3) as [TestWorker, TestWorker, TestWorker];

function newIndex(maxBytes = 1_000_000): PrefixIndex<TestWorker> {
  return new PrefixIndex<TestWorker>('m', maxBytes, () => 0);
}

/** A key of `count` blocks that shares the first `shared` with all others of this kind. */
function uniqueKey(id: number, count: number, shared = 0, blockBytes = 64): PrefixKey {
  const seedOf = (i: number): number => (i < shared ? 0 : id);
  return {
    count,
    lo: Uint32Array.from({ length: count }, (_, i) => mix32(Math.imul(seedOf(i), 0x9e3779b1) ^ i)),
    hi: Uint32Array.from({ length: count }, (_, i) => mix32(Math.imul(seedOf(i), 0x85ebca77) + i)),
    ends: Float64Array.from({ length: count }, (_, i) => (i + 1) * blockBytes),
  };
}

describe('prefix index', () => {
  it('joins runs again when what parted them is gone', () => {
    const index = newIndex();
    index.insert(keyOf('abcdef'), a)?.confirm();
    const branch = index.insert(keyOf('abcxy'), a);
    const copy = index.insert(keyOf('abcd'), b);
    expect(index.stats([]).nodes).toBe(4);
    branch?.withdraw();
    copy?.withdraw();
    expect(index.stats([])).toMatchObject({ nodes: 1, blocks: 6 });
    expect(index.match(keyOf('abcdef')).bytesOf(a)).toBe(6 * 64);
    expect(index.match(keyOf('abcdef')).bytesOf(b)).toBe(0);
  });

  it('keeps a growing conversation one run', () => {
    const index = newIndex();
    for (let turn = 1; turn <= 20; turn += 1) index.insert(uniqueKey(1, turn * 10), a)?.confirm();
    expect(index.stats([])).toMatchObject({ nodes: 1, blocks: 200 });
    expect(index.match(uniqueKey(1, 300)).bytesOf(a)).toBe(200 * 64);
  });

  it('keeps tentative blocks while another request claims them', () => {
    const index = newIndex();
    const first = index.insert(keyOf('abcd'), a);
    const second = index.insert(keyOf('abc'), a);
    const third = index.insert(keyOf('abcd'), a);
    first?.withdraw();
    expect(index.match(keyOf('abcd')).bytesOf(a)).toBe(4 * 64);
    third?.withdraw();
    expect(index.match(keyOf('abcd')).bytesOf(a)).toBe(3 * 64);
    second?.confirm();
    expect(index.match(keyOf('abcd')).bytesOf(a)).toBe(3 * 64);
  });

  it('takes a confirmation for all blocks of the prompt, and none back', () => {
    const index = newIndex();
    const short = index.insert(keyOf('ab'), a);
    const long = index.insert(keyOf('abcd'), a);
    long?.confirm();
    short?.withdraw();
    expect(index.match(keyOf('abcd')).bytesOf(a)).toBe(4 * 64);
    expect(index.insert(keyOf('abcd'), a)).toBeNull();
  });

  it('drops the prefix used longest ago, leaves first', () => {
    const index = newIndex(8 * 64);
    index.insert(keyOf('abcd'), a)?.confirm();
    index.insert(keyOf('xyz'), a)?.confirm();
    index.insert(keyOf('abef'), a)?.confirm();
    expect(index.match(keyOf('xyz')).bytesOf(a)).toBe(3 * 64);
    // 'cd' is the oldest leaf; 'ab' was used with 'ef'.
    expect(index.match(keyOf('abcd')).bytesOf(a)).toBe(2 * 64);
    index.insert(keyOf('xyz'), a);
    index.insert(keyOf('qr'), a);
    // Without 'cd', 'abef' is one run, and runs go as a whole.
    expect(index.match(keyOf('abef')).bytesOf(a)).toBe(0);
    expect(index.match(keyOf('xyz')).bytesOf(a)).toBe(3 * 64);
    expect(index.stats([]).evictions).toBe(2);
  });

  it('bounds each worker by itself', () => {
    const index = newIndex(4 * 64);
    index.insert(keyOf('abcd'), a);
    index.insert(keyOf('abcd'), b);
    index.insert(keyOf('wxyz'), a);
    expect(index.match(keyOf('abcd')).bytesOf(a)).toBe(0);
    expect(index.match(keyOf('abcd')).bytesOf(b)).toBe(4 * 64);
    expect([index.coveredBytes(a), index.coveredBytes(b), index.coveredBytes(c)]).toEqual([256, 256, 0]);
  });

  it('survives the end of a claim whose blocks were dropped meanwhile', () => {
    const index = newIndex(5 * 64);
    const claims = ['abc', 'abcde', 'xyz', 'uvwst', 'abc'].map((prompt) => index.insert(keyOf(prompt), a));
    claims[1]?.withdraw();
    claims[0]?.withdraw();
    claims[2]?.confirm();
    claims[3]?.withdraw();
    claims[4]?.withdraw();
    expect(index.stats([])).toMatchObject({ coveredBytes: 0, nodes: 0, blocks: 0 });
  });

  it('loses less than 1 % of the others to one huge prompt', () => {
    const maxBytes = 16 * 1024 * 1024;
    const index = newIndex(maxBytes);
    for (let id = 1; id <= 10_000; id += 1) index.insert(uniqueKey(id, 32), a)?.confirm();
    const before = index.stats([]);
    expect(before.coveredBytes).toBeGreaterThan(maxBytes - 4096);
    index.insert(uniqueKey(20_000, 4096, 0, 65_536), a);
    expect(index.stats([]).evictions - before.evictions).toBeLessThan(before.nodes / 100);
    expect(index.coveredBytes(a)).toBeLessThanOrEqual(maxBytes);
    const match = index.match(uniqueKey(20_000, 4096, 0, 65_536));
    expect(match.bytesOf(a)).toBe(match.keyedBytes);
  });

  it('empties an owner at once and its memory within the next requests', () => {
    const index = newIndex();
    for (let id = 1; id <= 300; id += 1) index.insert(uniqueKey(id, 10, 4), id % 2 === 0 ? a : b)?.confirm();
    index.removeOwner(a);
    expect(index.coveredBytes(a)).toBe(0);
    expect(index.match(uniqueKey(2, 10, 4)).bytesOf(a)).toBe(0);
    expect(index.match(uniqueKey(2, 10, 4)).best([a, b])).toMatchObject({ worker: b, bytes: 4 * 64, runnerUpBytes: 0 });
    for (let i = 0; i < 60; i += 1) index.insert(keyOf('x'), c)?.withdraw();
    expect(index.stats([])).toMatchObject({ coveredBytes: index.coveredBytes(b), nodes: 151 });
  });

  it('frees everything with the last owner', () => {
    const index = newIndex();
    for (let id = 1; id <= 2000; id += 1) index.insert(uniqueKey(id, 8), a);
    const full = index.stats([]).bytes;
    index.removeOwner(a);
    expect(index.stats([])).toMatchObject({ coveredBytes: 0, nodes: 0, blocks: 0 });
    expect(index.stats([]).bytes).toBeLessThan(full / 4);
    index.insert(keyOf('abc'), a);
    expect(index.match(keyOf('abc')).bytesOf(a)).toBe(3 * 64);
  });

  it('finds all of 60,000 prompts under one system prompt, and each with its owner', () => {
    const index = newIndex(1e9);
    const workers = testWorkers(40);
    for (let id = 1; id <= 60_000; id += 1) index.insert(uniqueKey(id, 6, 4), workers[id % 40]!)?.confirm();
    expect(index.stats([]).nodes).toBe(60_001);
    for (let id = 1; id <= 60_000; id += 97) {
      const match = index.match(uniqueKey(id, 6, 4));
      expect(match.bytesOf(workers[id % 40]!)).toBe(6 * 64);
      expect(match.bytesOf(workers[(id + 1) % 40]!)).toBe(4 * 64);
    }
    expect(index.match(uniqueKey(70_000, 6, 4)).bytesOf(workers[0]!)).toBe(4 * 64);
  });

  it('stays at its bound in memory too while prompts come and go', () => {
    const index = newIndex(2_000_000);
    const bytesAfter = (from: number, to: number): number => {
      for (let id = from; id <= to; id += 1) index.insert(uniqueKey(id, 8 + (id % 60)), id % 3 === 0 ? a : b)?.confirm();
      return index.stats([]).bytes;
    };
    const full = bytesAfter(1, 5_000);
    expect(bytesAfter(5_001, 30_000)).toBeLessThan(full * 1.1);
    expect(index.stats([]).bytes).toBeLessThan(index.stats([]).coveredBytes * 0.25);
  });

  it('takes a worker again after it has been removed many times', () => {
    const index = newIndex();
    index.insert(keyOf('keep'), b)?.confirm();
    for (let i = 0; i < 300; i += 1) {
      index.insert(keyOf('keep'), a);
      index.removeOwner(a);
    }
    expect(index.match(keyOf('keep')).best([a, b])).toMatchObject({ worker: b, runnerUpBytes: 0 });
    index.insert(keyOf('keep'), testWorker(9));
    expect(index.match(keyOf('keep')).bytesOf(testWorker(9))).toBe(0);
  });
});
