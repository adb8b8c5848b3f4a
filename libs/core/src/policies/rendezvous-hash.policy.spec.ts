import { describePolicyContract, testPolicy, testRequest, type TestWorker, testWorkers } from './policy.contract-suite.js';

describePolicyContract('rendezvous_hash');

const sessions = Array.from({ length: 2000 }, (_, i) => testRequest('', `session-${i}`));

function placed(members: readonly TestWorker[], candidates: readonly TestWorker[] = members): string[] {
  const policy = testPolicy('rendezvous_hash');
  for (const worker of members) policy.join(worker);
  return sessions.map((request) => policy.select(candidates, request)!.worker.endpoint);
}

describe('rendezvous_hash', () => {
  it('sends a session to one worker, the same after a restart and whatever the order of joining', () => {
    const workers = testWorkers(8);
    const home = placed(workers);
    expect(placed(workers.toReversed())).toEqual(home);
    expect(placed(testWorkers(8).map((worker) => ({ ...worker, index: worker.index + 70 })))).toEqual(home);
  });

  it('shares the keys out evenly', () => {
    const counts = new Map<string, number>();
    for (const endpoint of placed(testWorkers(8))) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
    for (const count of counts.values()) expect(Math.abs(count - 250)).toBeLessThan(80);
  });

  it('moves only the keys of a worker that is missing, whether it left or is no candidate', () => {
    const workers = testWorkers(8);
    const home = placed(workers);
    const without = placed(workers, workers.slice(1));
    home.forEach((endpoint, i) => {
      if (endpoint !== workers[0]!.endpoint) expect(without[i]).toBe(endpoint);
    });
    expect(placed(workers.slice(1))).toEqual(without);
    const policy = testPolicy('rendezvous_hash');
    for (const worker of workers) policy.join(worker);
    policy.leave(workers[0]!);
    expect(sessions.map((request) => policy.select(workers.slice(1), request)?.worker.endpoint)).toEqual(without);
  });

  it('chooses the candidate with the largest score', () => {
    const policy = testPolicy('rendezvous_hash');
    const workers = testWorkers(20);
    for (const worker of workers) policy.join(worker);
    for (const request of sessions.slice(0, 200)) {
      const choice = policy.select(workers, request)!;
      const scores = workers.map((worker) => choice.scores!.score(worker)!);
      expect(scores[workers.indexOf(choice.worker)]).toBe(Math.max(...scores));
      expect(new Set(scores).size).toBe(20);
    }
  });

  it('takes the least loaded without session and prompt', () => {
    const policy = testPolicy('rendezvous_hash');
    const workers = testWorkers(3);
    for (const worker of workers) policy.join(worker);
    workers[0]!.pressure = 1;
    expect(policy.select(workers, testRequest(''))).toMatchObject({ worker: workers[1], reason: 'least_load' });
  });
});
