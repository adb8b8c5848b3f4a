import fc from 'fast-check';
import { describePolicyContract, place, testPolicy, testRequest, testWorker, testWorkers } from './policy.contract-suite.js';

describePolicyContract('round_robin');

describe('round_robin', () => {
  const request = testRequest('');

  it('goes round by index, whatever the order of the candidates', () => {
    const policy = testPolicy('round_robin');
    const workers = testWorkers(3);
    const picks = Array.from({ length: 6 }, (_, i) => place(policy, i % 2 === 0 ? workers : workers.toReversed(), request).index);
    expect(picks).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it('does not move on without a commit', () => {
    const policy = testPolicy('round_robin');
    const workers = testWorkers(2);
    policy.select(workers, request);
    expect(policy.select(workers, request)).toMatchObject({ worker: workers[0], reason: 'round_robin', margin: null });
  });

  it('starves nobody when the candidates alternate', () => {
    const policy = testPolicy('round_robin');
    const [a, b, c] = testWorkers(3) as [ReturnType<typeof testWorker>, ReturnType<typeof testWorker>, ReturnType<typeof testWorker>];
    for (let i = 0; i < 40; i += 1) place(policy, i % 2 === 0 ? [a, b] : [a, c], request);
    expect(b.turn).toBeGreaterThanOrEqual(13);
    expect(c.turn).toBeGreaterThanOrEqual(13);
  });

  it('never picks anyone twice while another candidate waits', () => {
    fc.assert(
      fc.property(fc.array(fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 6 }), { maxLength: 60 }), (sets) => {
        const policy = testPolicy('round_robin');
        const workers = testWorkers(6);
        const passedBy = new Map(workers.map((worker) => [worker, new Set<number>()]));
        for (const set of sets) {
          const candidates = set.map((at) => workers[at]!);
          const picked = place(policy, candidates, request);
          for (const worker of workers) {
            const passed = passedBy.get(worker)!;
            if (worker === picked || !candidates.includes(worker)) {
              passed.clear();
            } else {
              expect(passed.has(picked.index)).toBe(false);
              passed.add(picked.index);
            }
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('gives a newcomer its turn at once, and only one', () => {
    const policy = testPolicy('round_robin');
    const workers = testWorkers(3);
    for (let i = 0; i < 9; i += 1) place(policy, workers, request);
    const all = [...workers, testWorker(4)];
    expect(Array.from({ length: 5 }, () => place(policy, all, request).index)).toEqual([4, 1, 2, 3, 4]);
  });
});
