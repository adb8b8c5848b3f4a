import { emptyPrefixKey, type PrefixKey } from '../prompt/prefix-key.js';
import { type PolicyName } from '../words.js';
import { createPolicy } from './create-policy.js';
import { defaultPolicyOptions, type PolicyOptions } from './policy-options.js';
import { type Policy, type PolicyRequest, type PolicyWorker } from './policy.js';
import { hashText } from './request-hash.js';

/** A worker whose load and turn a test can move. */
export interface TestWorker extends PolicyWorker {
  pressure: number;
  turn: number;
}

export function testWorker(index: number, pressure = 0): TestWorker {
  return { id: `prefill-${index}`, endpoint: `http://10.0.${index >> 8}.${index & 255}:8000`, pressure, turn: 0, index };
}

export function testWorkers(count: number): TestWorker[] {
  return Array.from({ length: count }, (_, i) => testWorker(i + 1));
}

/** A key with one block of `blockBytes` for each character of `prompt`; equal beginnings give equal blocks. */
export function keyOf(prompt: string, blockBytes = 64): PrefixKey {
  const hashes = Array.from(prompt, (_, i) => hashText(prompt.slice(0, i + 1)));
  return {
    count: prompt.length,
    lo: Uint32Array.from(hashes, (hash) => hash.lo),
    hi: Uint32Array.from(hashes, (hash) => hash.hi),
    ends: Float64Array.from(hashes, (_, i) => (i + 1) * blockBytes),
  };
}

export function testRequest(prompt: string, sessionKey: string | null = null, model = 'm'): PolicyRequest {
  return { model, prefixKey: prompt === '' ? emptyPrefixKey : keyOf(prompt), sessionKey };
}

/** A seeded source of randomness in [0, 1) (mulberry32, Tommy Ettinger, public domain). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function testPolicy(name: PolicyName, options: Partial<PolicyOptions> = {}, nowMs: () => number = () => 0): Policy<TestWorker> {
  return createPolicy<TestWorker>(name, { random: seededRandom(7), nowMs, options: { ...defaultPolicyOptions, ...options } });
}

/** One placement as the scheduler makes it: select, commit, turn and load move. Load stays until the test lowers it. */
export function place(policy: Policy<TestWorker>, candidates: readonly TestWorker[], request: PolicyRequest): TestWorker {
  const choice = policy.select(candidates, request);
  if (choice === undefined) throw new Error('no candidate');
  policy.commit(choice.worker, request);
  choice.worker.turn += 1;
  choice.worker.pressure += 1;
  return choice.worker;
}

/** What every policy owes the scheduler. */
export function describePolicyContract(name: PolicyName): void {
  const setUp = (count: number): { policy: Policy<TestWorker>; workers: TestWorker[] } => {
    const policy = testPolicy(name);
    const workers = testWorkers(count);
    for (const worker of workers) policy.join(worker);
    return { policy, workers };
  };
  const requests = [testRequest('abc'), testRequest(''), testRequest('abd', 'session-1'), testRequest('', 'session-2')];

  describe(`${name} as a policy`, () => {
    it('is created by its name', () => {
      expect(testPolicy(name).name).toBe(name);
    });

    it('chooses nothing from nothing', () => {
      const { policy } = setUp(3);
      for (const request of requests) expect(policy.select([], request)).toBeUndefined();
    });

    it('takes the only candidate and says so', () => {
      const { policy, workers } = setUp(3);
      for (const request of requests) {
        expect(policy.select([workers[1]!], request)).toMatchObject({ worker: workers[1], reason: 'only_candidate', margin: null });
      }
    });

    it('chooses only among the candidates', () => {
      const { policy, workers } = setUp(8);
      for (let i = 0; i < 200; i += 1) {
        const candidates = workers.filter((_, at) => ((i * 37 + 1) >> at % 6) % 2 === 1);
        if (candidates.length === 0) continue;
        const request = testRequest(`p${i % 9}`, i % 3 === 0 ? `s${i % 7}` : null);
        expect(candidates).toContain(place(policy, candidates, request));
      }
    });

    it('gives the same answer to the same question until something is committed', () => {
      const { policy, workers } = setUp(5);
      for (const request of requests) policy.commit(workers[2]!, request);
      // Randomness is the one thing select may use up, so two equal policies are asked.
      const twin = setUp(5);
      for (const request of requests) twin.policy.commit(twin.workers[2]!, request);
      for (const request of requests) {
        const first = policy.select(workers, request);
        const second = twin.policy.select(twin.workers, request);
        expect(second).toMatchObject({ reason: first?.reason, margin: first?.margin, worker: { id: first?.worker.id } });
        if (name !== 'random' && name !== 'power_of_two') {
          expect(policy.select(workers, request)).toMatchObject({ worker: first?.worker, reason: first?.reason, margin: first?.margin });
        }
      }
    });

    it('takes join, leave and forget twice, and for strangers', () => {
      const { policy, workers } = setUp(2);
      policy.join(workers[0]!);
      policy.leave(workers[1]!);
      policy.leave(workers[1]!);
      policy.forget(workers[1]!);
      policy.forget(workers[0]!);
      policy.forget(workers[0]!);
      policy.leave(testWorker(99));
      for (const request of requests) expect(policy.select([workers[0]!], request)?.worker).toBe(workers[0]);
    });

    it('serves a worker that leaves and one that comes at the same endpoint', () => {
      const { policy, workers } = setUp(3);
      for (let i = 0; i < 30; i += 1) place(policy, workers, testRequest(`p${i}`, `s${i}`));
      const successor = { ...testWorker(4), endpoint: workers[0]!.endpoint };
      policy.leave(workers[0]!);
      policy.join(successor);
      const candidates = [workers[1]!, workers[2]!, successor];
      const chosen = new Set(Array.from({ length: 60 }, (_, i) => place(policy, candidates, testRequest(`p${i}`, `s${i}`))));
      expect(chosen).toEqual(new Set(candidates));
    });

    it('ends claims once, in any way, also after the worker has left', () => {
      const { policy, workers } = setUp(2);
      const first = policy.commit(workers[0]!, testRequest('xyz'));
      const second = policy.commit(workers[1]!, testRequest('xyz'));
      first?.withdraw();
      first?.confirm();
      first?.withdraw();
      policy.leave(workers[1]!);
      second?.confirm();
      second?.withdraw();
      expect(policy.select([workers[0]!], testRequest('xyz'))?.worker).toBe(workers[0]);
    });

    it('answers scores for candidates and strangers', () => {
      const { policy, workers } = setUp(4);
      const scores = policy.select(workers, testRequest('abc', 's'))?.scores;
      for (const worker of [...workers, testWorker(50)]) {
        expect(scores?.matchBytes(worker) ?? 0).toBe(0);
        expect([null, undefined, expect.any(Number)]).toContainEqual(scores?.score(worker));
      }
    });

    it('uses every worker for requests that have nothing in common', () => {
      const { policy, workers } = setUp(6);
      const used = new Set(Array.from({ length: 300 }, (_, i) => place(policy, workers, testRequest(`${i}:`, null))));
      expect(used.size).toBe(6);
    });
  });
}
