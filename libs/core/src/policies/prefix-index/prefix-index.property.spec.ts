import fc from 'fast-check';
import { type CacheTreeNode } from '../affinity-statistics.js';
import { keyOf, type TestWorker, testWorkers } from '../policy.contract-suite.js';
import { type AffinityClaim } from '../policy.js';
import { PrefixIndex } from './prefix-index.js';

const workerCount = 12;

/** What an index should know: who owns which prefixes, block by block. */
class NaiveIndex {
  readonly confirmed = new Map<TestWorker, Set<string>>();
  readonly claims = new Set<{ worker: TestWorker; prompt: string }>();

  owns(worker: TestWorker, prefix: string): boolean {
    if (this.confirmed.get(worker)?.has(prefix) === true) return true;
    for (const claim of this.claims) if (claim.worker === worker && claim.prompt.startsWith(prefix)) return true;
    return false;
  }

  confirm(worker: TestWorker, prompt: string): void {
    const prefixes = this.confirmed.get(worker) ?? new Set();
    for (let end = 1; end <= prompt.length; end += 1) prefixes.add(prompt.slice(0, end));
    this.confirmed.set(worker, prefixes);
  }

  remove(worker: TestWorker): void {
    this.confirmed.delete(worker);
    for (const claim of this.claims) if (claim.worker === worker) this.claims.delete(claim);
  }

  matchedBlocks(worker: TestWorker, prompt: string): number {
    let blocks = 0;
    while (blocks < prompt.length && this.owns(worker, prompt.slice(0, blocks + 1))) blocks += 1;
    return blocks;
  }

  coveredBlocks(worker: TestWorker): number {
    const prefixes = new Set(this.confirmed.get(worker));
    for (const claim of this.claims) {
      if (claim.worker === worker) for (let end = 1; end <= claim.prompt.length; end += 1) prefixes.add(claim.prompt.slice(0, end));
    }
    return prefixes.size;
  }
}

interface Counted {
  readonly bytes: Map<string, number>;
  total: number;
}

/** Adds up a tree view and checks what holds for every node of it. */
function recount(nodes: readonly CacheTreeNode[], startBytes: number, parentWorkers: readonly string[] | null, into: Counted): Counted {
  for (const node of nodes) {
    const bytes = node.depthBytes - startBytes;
    expect(bytes).toBe(node.blocks * 64);
    if (parentWorkers !== null) expect(parentWorkers).toEqual(expect.arrayContaining([...node.workers]));
    for (const id of node.workers) into.bytes.set(id, (into.bytes.get(id) ?? 0) + bytes);
    into.total += bytes;
    recount(node.children, node.depthBytes, node.workers, into);
  }
  return into;
}

const prompts = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 9 }).map((letters) => letters.join(''));
const workerNumbers = fc.nat(workerCount - 1);
const operations = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('insert' as const), worker: workerNumbers, prompt: prompts }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('confirm' as const), claim: fc.nat(1000) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), claim: fc.nat(1000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), worker: workerNumbers }) },
);
const runs = { numRuns: 200 };

describe('prefix index under random operations', () => {
  it('knows exactly what a naive index knows', () => {
    fc.assert(
      fc.property(fc.array(operations, { maxLength: 60 }), fc.array(prompts, { minLength: 3, maxLength: 6 }), (steps, probes) => {
        const workers = testWorkers(workerCount);
        const index = new PrefixIndex<TestWorker>('m', 1_000_000, () => 0);
        const naive = new NaiveIndex();
        const claims: { entry: { worker: TestWorker; prompt: string }; claim: AffinityClaim | null }[] = [];
        for (const step of steps) {
          if (step.kind === 'insert') {
            const entry = { worker: workers[step.worker]!, prompt: step.prompt };
            claims.push({ entry, claim: index.insert(keyOf(step.prompt), entry.worker) });
            naive.claims.add(entry);
          } else if (step.kind === 'remove') {
            index.removeOwner(workers[step.worker]!);
            naive.remove(workers[step.worker]!);
          } else if (claims.length > 0) {
            const { entry, claim } = claims[step.claim % claims.length]!;
            claim?.[step.kind]();
            if (naive.claims.delete(entry) && step.kind === 'confirm') naive.confirm(entry.worker, entry.prompt);
          }
          for (const prompt of probes) {
            const match = index.match(keyOf(prompt));
            const expected = workers.map((worker) => naive.matchedBlocks(worker, prompt) * 64);
            expect(workers.map((worker) => match.bytesOf(worker))).toEqual(expected);
            const most = Math.max(...expected);
            expect(match.best(workers)?.bytes ?? 0).toBe(most);
            expect(match.best(workers)?.worker).toBe(most === 0 ? undefined : workers[expected.indexOf(most)]);
            expect(match.best(workers)?.runnerUpBytes ?? 0).toBe(expected.filter((_, at) => at !== expected.indexOf(most)).reduce((a, b) => Math.max(a, b), 0));
          }
          const covered = workers.map((worker) => naive.coveredBlocks(worker) * 64);
          expect(workers.map((worker) => index.coveredBytes(worker))).toEqual(covered);
          const counted = recount(index.tree(99, 500), 0, null, { bytes: new Map(), total: 0 });
          expect(workers.map((worker) => counted.bytes.get(worker.id) ?? 0)).toEqual(covered);
        }
      }),
      runs,
    );
  });

  it('keeps every bound, and leaves nothing of what is withdrawn', () => {
    fc.assert(
      fc.property(fc.array(operations, { maxLength: 80 }), fc.integer({ min: 1, max: 20 }), (steps, boundBlocks) => {
        const workers = testWorkers(workerCount);
        const index = new PrefixIndex<TestWorker>('m', boundBlocks * 64, () => 0);
        const open: AffinityClaim[] = [];
        let confirmed = 0;
        for (const step of steps) {
          if (step.kind === 'insert') {
            const worker = workers[step.worker]!;
            const claim = index.insert(keyOf(step.prompt), worker);
            if (claim !== null) open.push(claim);
            expect(index.match(keyOf(step.prompt)).bytesOf(worker)).toBe(Math.min(step.prompt.length, boundBlocks) * 64);
          } else if (step.kind === 'remove') {
            index.removeOwner(workers[step.worker]!);
          } else if (open.length > 0) {
            const [claim] = open.splice(step.claim % open.length, 1);
            claim?.[step.kind]();
            confirmed += step.kind === 'confirm' ? 1 : 0;
          }
          const counted = recount(index.tree(99, 500), 0, null, { bytes: new Map(), total: 0 });
          for (const worker of workers) {
            expect(index.coveredBytes(worker)).toBeLessThanOrEqual(boundBlocks * 64);
            expect(index.coveredBytes(worker)).toBe(counted.bytes.get(worker.id) ?? 0);
          }
        }
        for (const claim of open) claim.withdraw();
        // Each insert cleans up more than it touches: in the end nothing of the departed is left.
        const last = testWorkers(workerCount + 1)[workerCount]!;
        for (let i = 0; i < 40; i += 1) index.insert(keyOf('z'), last)?.withdraw();
        const { total } = recount(index.tree(99, 500), 0, null, { bytes: new Map(), total: 0 });
        const stats = index.stats(workers);
        expect(stats.coveredBytes).toBe(total);
        expect(stats.blocks * 64).toBe(total);
        if (confirmed === 0) expect(stats).toMatchObject({ coveredBytes: 0, blocks: 0, nodes: 0 });
      }),
      runs,
    );
  });
});
