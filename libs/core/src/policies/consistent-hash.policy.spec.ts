import { describePolicyContract, testPolicy, testRequest, type TestWorker, testWorkers } from './policy.contract-suite.js';

describePolicyContract('consistent_hash');

const sessions = Array.from({ length: 2000 }, (_, i) => testRequest('', `session-${i}`));

function placed(members: readonly TestWorker[], candidates: readonly TestWorker[] = members): string[] {
  const policy = testPolicy('consistent_hash');
  for (const worker of members) policy.join(worker);
  return sessions.map((request) => policy.select(candidates, request)!.worker.endpoint);
}

describe('consistent_hash', () => {
  it('sends a session to one worker, the same after a restart and whatever the order of joining', () => {
    const workers = testWorkers(8);
    const home = placed(workers);
    expect(placed(workers.toReversed())).toEqual(home);
    expect(placed(testWorkers(8).map((worker) => ({ ...worker, id: `decode-${worker.index}`, index: worker.index + 70 })))).toEqual(home);
  });

  it('shares the keys out', () => {
    const counts = new Map<string, number>();
    for (const endpoint of placed(testWorkers(8))) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
    expect(counts.size).toBe(8);
    for (const count of counts.values()) expect(count).toBeGreaterThan(2000 / 8 / 2);
  });

  it('spreads the keys of a missing worker over all others, and moves no other key', () => {
    const workers = testWorkers(8);
    const home = placed(workers);
    const without = placed(workers, workers.slice(1));
    const taken = new Set<string>();
    home.forEach((endpoint, i) => {
      if (endpoint === workers[0]!.endpoint) taken.add(without[i]!);
      else expect(without[i]).toBe(endpoint);
    });
    expect(taken.size).toBe(7);
    expect(placed(workers.slice(1))).toEqual(without);
  });

  it('finds the one candidate left that is far along the ring', () => {
    const workers = testWorkers(30);
    const two = [workers[3]!, workers[17]!];
    expect(new Set(placed(workers, two))).toEqual(new Set(two.map(({ endpoint }) => endpoint)));
  });

  it('takes the beginning of the prompt as key without a session, and the least loaded without either', () => {
    const policy = testPolicy('consistent_hash');
    const workers = testWorkers(8);
    for (const worker of workers) policy.join(worker);
    const sixteen = 'the same sixteen';
    const home = policy.select(workers, testRequest(sixteen))?.worker;
    for (let i = 0; i < 20; i += 1) expect(policy.select(workers, testRequest(`${sixteen} and turn ${i}`))).toMatchObject({ worker: home, reason: 'hash' });
    expect(new Set(Array.from({ length: 100 }, (_, i) => policy.select(workers, testRequest(`${i}`))?.worker)).size).toBe(8);
    workers[4]!.pressure = -1;
    expect(policy.select(workers, testRequest(''))).toMatchObject({ worker: workers[4], reason: 'least_load' });
  });
});
