import { type PrefixKey } from '../../prompt/prefix-key.js';
import { mix32 } from '../mix32.js';
import { type TestWorker, testWorkers } from '../policy.contract-suite.js';
import { PrefixIndex } from './prefix-index.js';

/** Writes another unique prompt into `key`: the index keeps nothing of the object. */
function refill(key: PrefixKey, id: number): PrefixKey {
  for (let i = 0; i < key.count; i += 1) {
    key.lo[i] = mix32(Math.imul(id, 0x9e3779b1) ^ i);
    key.hi[i] = mix32(Math.imul(id, 0x85ebca77) + i);
  }
  return key;
}

function keyOfBlocks(count: number): PrefixKey {
  return {
    count,
    lo: new Uint32Array(count),
    hi: new Uint32Array(count),
    ends: Float64Array.from({ length: count }, (_, i) => (i + 1) * 64),
  };
}

/**
 * Lets `owners` workers own `prompts` unique prompts of `blocks` 64-byte blocks. Returns the longest insert in ms of CPU
 * time, since a busy machine interrupts it for as long as it likes.
 */
function fill(index: PrefixIndex<TestWorker>, owners: number, prompts: number, blocks: number): number {
  const workers = testWorkers(owners);
  const key = keyOfBlocks(blocks);
  let longestMs = 0;
  for (let id = 1; id <= prompts; id += 1) {
    refill(key, id);
    for (const worker of workers) {
      const start = process.cpuUsage();
      index.insert(key, worker)?.confirm();
      const { user, system } = process.cpuUsage(start);
      longestMs = Math.max(longestMs, (user + system) / 1000);
    }
  }
  return longestMs;
}

describe('memory of the prefix index', () => {
  it.each([1, 8, 64])('is at most a fifth of the text at %i owners', (owners) => {
    const index = new PrefixIndex<TestWorker>('m', 1e12, () => 0);
    fill(index, owners, 6_000, 32);
    const { bytes, coveredBytes } = index.stats([]);
    expect(coveredBytes).toBe(6_000 * 2048);
    expect(bytes).toBeLessThan(coveredBytes * 0.19);
  });

  it.each([1, 4, 10, 25])('is at most 160 bytes a prompt and 8 a block for prompts of %i blocks', (blocks) => {
    const index = new PrefixIndex<TestWorker>('m', 1e12, () => 0);
    fill(index, 8, 6_000, blocks);
    expect(index.stats([]).bytes).toBeLessThan(6_000 * (160 + 8 * blocks));
  });

  it('is what the process grows by', () => {
    const index = new PrefixIndex<TestWorker>('m', 1e12, () => 0);
    fill(index, 1, 1_000, 32);
    const before = process.memoryUsage().arrayBuffers;
    const counted = index.stats([]).bytes;
    const key = keyOfBlocks(32);
    const [worker] = testWorkers(1);
    for (let id = 10_001; id <= 40_000; id += 1) index.insert(refill(key, id), worker!)?.confirm();
    const grown = index.stats([]).bytes - counted;
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(grown * 1.2 + 4_000_000);
    expect(grown).toBeLessThan(30_000 * 2048 * 0.2);
  });
});

describe('growth and eviction of the prefix index', () => {
  it('do their work in small steps', () => {
    // The collector's threads count as well and may have their say in one round; not in all of five.
    const rounds = Array.from({ length: 5 }, () => fill(new PrefixIndex<TestWorker>('m', 4_000_000, () => 0), 2, 15_000, 20));
    expect(Math.min(...rounds)).toBeLessThan(10);
  });
});
