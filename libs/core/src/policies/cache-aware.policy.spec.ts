import { CacheAwarePolicy } from './cache-aware.policy.js';
import { describePolicyContract, keyOf, place, testPolicy, testRequest, testWorker, type TestWorker, testWorkers } from './policy.contract-suite.js';
import { defaultPolicyOptions, type PolicyOptions } from './policy-options.js';

describePolicyContract('cache_aware');

describe('cache_aware', () => {
  const setUp = (count: number, options: Partial<PolicyOptions> = {}): { policy: CacheAwarePolicy<TestWorker>; workers: TestWorker[]; clock: { ms: number } } => {
    const clock = { ms: 0 };
    const policy = new CacheAwarePolicy<TestWorker>({ ...defaultPolicyOptions, ...options }, () => clock.ms);
    const workers = testWorkers(count);
    for (const worker of workers) policy.join(worker);
    return { policy, workers, clock };
  };

  it('sends a known prefix to its owner and a new one to the least loaded', () => {
    const { policy, workers } = setUp(3);
    policy.commit(workers[2]!, testRequest('abcdef'));
    workers[2]!.pressure = 5;
    expect(policy.select(workers, testRequest('abcdxy'))).toMatchObject({ worker: workers[2], reason: 'affinity', margin: 4 * 64 });
    workers[0]!.pressure = 1;
    expect(policy.select(workers, testRequest('zzz'))).toMatchObject({ worker: workers[1], reason: 'no_match', margin: 1 });
    expect(policy.select(workers, testRequest(''))).toMatchObject({ worker: workers[1], reason: 'no_match' });
  });

  it('takes affinity only above the threshold, strictly', () => {
    const { policy, workers } = setUp(2, { cacheThreshold: 0.5 });
    policy.commit(workers[1]!, testRequest('abcd'));
    expect(policy.select(workers, testRequest('abxy'))).toMatchObject({ worker: workers[0], reason: 'no_match' });
    expect(policy.select(workers, testRequest('abcy'))).toMatchObject({ worker: workers[1], reason: 'affinity' });
  });

  it('calls the candidates imbalanced only beyond both thresholds, strictly', () => {
    const { policy, workers } = setUp(3);
    policy.commit(workers[0]!, testRequest('abc'));
    const reasonAt = (owner: number, other: number): unknown => {
      workers[0]!.pressure = owner;
      workers[1]!.pressure = other;
      return policy.select(workers.slice(0, 2), testRequest('abc'))?.reason;
    };
    expect(reasonAt(8, 0)).toBe('affinity');
    expect(reasonAt(9, 0)).toBe('imbalance');
    expect(reasonAt(30, 20)).toBe('affinity');
    expect(reasonAt(31, 20)).toBe('imbalance');
    expect(policy.select(workers.slice(0, 2), testRequest('abc'))?.worker).toBe(workers[1]);
    // Who is not a candidate does not count.
    workers[2]!.pressure = 1000;
    expect(reasonAt(8, 0)).toBe('affinity');
  });

  it('chooses among equal owners by (pressure, turn, index)', () => {
    const { policy, workers } = setUp(4);
    for (const owner of [3, 1, 2]) policy.commit(workers[owner]!, testRequest('abc'));
    workers[1]!.pressure = 2;
    workers[2]!.turn = 1;
    expect(policy.select(workers, testRequest('abc'))).toMatchObject({ worker: workers[3], reason: 'affinity', margin: 0 });
    workers[2]!.turn = 0;
    expect(policy.select(workers, testRequest('abc'))?.worker).toBe(workers[2]);
  });

  it('takes the longest match among the candidates, with any number of owners', () => {
    const { policy, workers } = setUp(40);
    for (const worker of workers) policy.commit(worker, testRequest('abcd'));
    for (const worker of workers.slice(10, 30)) policy.commit(worker, testRequest('abcdef'));
    policy.commit(workers[35]!, testRequest('abcdefgh'));
    const choose = (from: number, to: number) => policy.select(workers.slice(from, to), testRequest('abcdefgh'));
    expect(choose(0, 40)).toMatchObject({ worker: workers[35], margin: 2 * 64 });
    expect(choose(0, 34)).toMatchObject({ worker: workers[10], margin: 0 });
    expect(choose(0, 11)).toMatchObject({ worker: workers[10], margin: 2 * 64 });
    expect(choose(0, 9)).toMatchObject({ worker: workers[0], margin: 0 });
  });

  it('tells what each worker holds of the prompt', () => {
    const { policy, workers } = setUp(3);
    policy.commit(workers[0]!, testRequest('abcd'));
    policy.commit(workers[1]!, testRequest('ab'));
    const scores = policy.select(workers, testRequest('abcx'))?.scores;
    expect(workers.map((worker) => scores?.matchBytes(worker))).toEqual([192, 128, 0]);
    expect(workers.map((worker) => scores?.score(worker))).toEqual([0.75, 0.5, 0]);
  });

  it('keeps models apart', () => {
    const { policy, workers } = setUp(2);
    policy.commit(workers[1]!, testRequest('abc', null, 'm1'));
    expect(policy.select(workers, testRequest('abc', null, 'm2'))).toMatchObject({ worker: workers[0], reason: 'no_match' });
    expect(policy.coveredBytes(workers[1]!, 'm1')).toBe(192);
    expect(policy.coveredBytes(workers[1]!, 'm2')).toBe(0);
    policy.commit(workers[1]!, testRequest('abc', null, 'm2'));
    expect(policy.coveredBytes(workers[1]!)).toBe(384);
  });

  it('keeps 50 requests with one new prefix together until the balance rule parts them', () => {
    const { policy, workers } = setUp(6);
    for (let i = 0; i < 50; i += 1) {
      const loads = workers.map(({ pressure }) => pressure);
      const [most, least] = [Math.max(...loads), Math.min(...loads)];
      const choice = policy.select(workers, testRequest('one new prefix'))!;
      if (i > 0) expect(choice.reason).toBe(most - least > 8 && most > least * 1.5 ? 'imbalance' : 'affinity');
      expect(place(policy, workers, testRequest('one new prefix'))).toBe(choice.worker);
    }
    // Nine on the first, then one imbalanced step after another: never further apart than the rule allows.
    const loads = workers.map(({ pressure }) => pressure);
    expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(9);
  });

  it('leaves no owner behind when the request fails', () => {
    const { policy, workers } = setUp(3);
    const claim = policy.commit(workers[2]!, testRequest('abc'));
    expect(policy.select(workers, testRequest('abc'))?.worker).toBe(workers[2]);
    claim?.withdraw();
    expect(policy.select(workers, testRequest('abc'))).toMatchObject({ worker: workers[0], reason: 'no_match' });
    expect(policy.cacheStats()[0]).toMatchObject({ coveredBytes: 0, nodes: 0 });
  });

  it('lets a departed owner go at once, and gives its successor nothing', () => {
    const { policy, workers } = setUp(3);
    policy.commit(workers[2]!, testRequest('abc'))?.confirm();
    policy.commit(workers[1]!, testRequest('other'));
    const late = policy.commit(workers[2]!, testRequest('abcdef'));
    policy.leave(workers[2]!);
    const successor = { ...testWorker(4), endpoint: workers[2]!.endpoint };
    policy.join(successor);
    late?.confirm();
    const choice = policy.select([workers[0]!, workers[1]!, successor], testRequest('abcdef'));
    expect(choice).toMatchObject({ worker: workers[0], reason: 'no_match' });
    expect(choice?.scores?.matchBytes(successor)).toBe(0);
    expect(choice?.scores?.matchBytes(workers[2]!)).toBe(0);
    expect(policy.commit(workers[2]!, testRequest('abc'))).toBeNull();
  });

  it('forgets what a worker holds and keeps it a member', () => {
    const { policy, workers } = setUp(2);
    policy.commit(workers[1]!, testRequest('abc'));
    policy.forget(workers[1]!);
    expect(policy.select(workers, testRequest('abc'))?.reason).toBe('no_match');
    policy.commit(workers[1]!, testRequest('abc'));
    expect(policy.select(workers, testRequest('abc'))).toMatchObject({ worker: workers[1], reason: 'affinity' });
  });

  it('changes nothing by selecting', () => {
    const { policy, workers } = setUp(2);
    policy.commit(workers[0]!, testRequest('abcd'));
    const before = JSON.stringify([policy.cacheStats(), policy.cacheTree('m', 9, 99)]);
    for (const prompt of ['abcd', 'abxy', 'q', '']) policy.select(workers, testRequest(prompt));
    policy.select(workers, testRequest('abcd', null, 'another model'));
    expect(JSON.stringify([policy.cacheStats(), policy.cacheTree('m', 9, 99)])).toBe(before);
  });

  it('takes other options while it runs', () => {
    const { policy, workers } = setUp(2);
    policy.commit(workers[1]!, testRequest('abcdefgh'));
    expect(policy.select(workers, testRequest('abcdefgx'))?.reason).toBe('affinity');
    policy.setOptions({ ...defaultPolicyOptions, cacheThreshold: 0.9, prefixIndexMaxBytes: 512 });
    expect(policy.select(workers, testRequest('abcdefgx'))?.reason).toBe('no_match');
    policy.commit(workers[1]!, testRequest('z'));
    expect(policy.coveredBytes(workers[1]!)).toBe(64);
    expect(policy.cacheStats()[0]?.maxBytes).toBe(512);
  });

  it('counts hits, misses and the hit rate of 15 minutes', () => {
    const { policy, workers, clock } = setUp(2);
    policy.commit(workers[0]!, testRequest('abcd'));
    policy.commit(workers[0]!, testRequest('abxy'));
    policy.commit(workers[1]!, testRequest('abcd'));
    policy.commit(workers[1]!, testRequest(''));
    const [stats] = policy.cacheStats();
    expect(stats).toMatchObject({ model: 'm', hits: 1, misses: 2, hitRate: 2 / 12, blocks: 6, coveredBytes: 6 * 64 });
    expect(stats?.workers).toEqual([
      { worker: workers[0], coveredBytes: 384, share: 1, hits: 1 },
      { worker: workers[1], coveredBytes: 256, share: 256 / 384, hits: 0 },
    ]);
    clock.ms = 14 * 60_000;
    policy.commit(workers[0]!, testRequest('abcd'));
    expect(policy.cacheStats()[0]?.hitRate).toBe(6 / 16);
    clock.ms = 15 * 60_000;
    expect(policy.cacheStats()[0]?.hitRate).toBe(1);
    clock.ms = 60 * 60_000;
    expect(policy.cacheStats()[0]?.hitRate).toBe(0);
  });

  it('shows the prefixes as a tree', () => {
    const { policy, workers, clock } = setUp(2);
    policy.commit(workers[0]!, testRequest('abcd'))?.confirm();
    policy.commit(workers[0]!, testRequest('abxy'))?.confirm();
    clock.ms = 5000;
    policy.commit(workers[1]!, testRequest('ab'));
    policy.commit(workers[0]!, testRequest('abxy'));
    clock.ms = 7000;
    const [top, ...others] = policy.cacheTree('m', 2, 10);
    expect(others).toEqual([]);
    expect(top).toMatchObject({ depthBytes: 128, blocks: 2, hits: 2, lastHitMs: 2000, confirmed: true, workers: ['prefill-1', 'prefill-2'] });
    expect(top?.hash).toBe(`${keyOf('a').hi[0]?.toString(16).padStart(8, '0')}${keyOf('a').lo[0]?.toString(16).padStart(8, '0')}`);
    expect(top?.children).toMatchObject([
      { depthBytes: 256, blocks: 2, hits: 1, confirmed: true, workers: ['prefill-1'], children: [] },
      { depthBytes: 256, blocks: 2, hits: 0, lastHitMs: null, workers: ['prefill-1'], children: [] },
    ]);
    expect(policy.cacheTree('m', 1, 10)).toMatchObject([{ children: [] }]);
    expect(policy.cacheTree('m', 9, 2)[0]?.children).toHaveLength(1);
    expect(policy.cacheTree('m', 0, 10)).toEqual([]);
    expect(policy.cacheTree('unknown', 9, 9)).toEqual([]);
  });

  it('has an index of a model that is opened before its first request', () => {
    const { policy, workers } = setUp(1);
    policy.openModel('m');
    policy.openModel('m');
    expect(policy.cacheStats()).toMatchObject([{ model: 'm', nodes: 0, hitRate: 0, workers: [{ worker: workers[0], coveredBytes: 0, share: 0 }] }]);
    expect(testPolicy('random')).not.toHaveProperty('openModel');
    expect(testPolicy('random')).not.toHaveProperty('setOptions');
  });

  it('holds the indexes of 256 models at a time, dropping the one used longest ago', () => {
    const { policy, workers, clock } = setUp(1);
    for (let i = 0; i < 300; i += 1) {
      clock.ms += 1;
      policy.commit(workers[0]!, testRequest('a', null, `model-${i}`));
      clock.ms += 1;
      policy.commit(workers[0]!, testRequest('a', null, 'model-0'));
    }
    const models = policy.cacheStats().map(({ model }) => model);
    expect(models).toHaveLength(256);
    expect(models).toContain('model-0');
    expect(models).toContain('model-299');
    expect(models).not.toContain('model-1');
  });
});
