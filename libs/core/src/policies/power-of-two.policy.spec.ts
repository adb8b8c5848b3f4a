import { describePolicyContract, place, testPolicy, testRequest, testWorkers } from './policy.contract-suite.js';

describePolicyContract('power_of_two');

describe('power_of_two', () => {
  const request = testRequest('');

  it('always takes the less loaded of two workers', () => {
    const policy = testPolicy('power_of_two');
    const workers = testWorkers(2);
    workers[0]!.pressure = 3;
    for (let i = 0; i < 50; i += 1) expect(policy.select(workers, request)).toMatchObject({ worker: workers[1], reason: 'power_of_two', margin: 3 });
  });

  it('breaks ties of the two by turn, then by index', () => {
    const policy = testPolicy('power_of_two');
    const workers = testWorkers(2);
    for (let i = 0; i < 20; i += 1) expect(policy.select(workers, request)?.worker).toBe(workers[0]);
    workers[0]!.turn = 1;
    for (let i = 0; i < 20; i += 1) expect(policy.select(workers, request)?.worker).toBe(workers[1]);
  });

  it('never takes the most loaded, and draws every pair', () => {
    const policy = testPolicy('power_of_two');
    const workers = testWorkers(4);
    workers.forEach((worker, i) => (worker.pressure = i));
    const pairs = new Map<string, number>();
    for (let i = 0; i < 3000; i += 1) {
      const scores = policy.select(workers, request)?.scores;
      const drawn = workers.filter((worker) => scores?.score(worker) !== null).map(({ index }) => index);
      expect(drawn).toHaveLength(2);
      pairs.set(drawn.join(), (pairs.get(drawn.join()) ?? 0) + 1);
    }
    expect(pairs.size).toBe(6);
    for (const count of pairs.values()) expect(count).toBeGreaterThan(400);
  });

  it('keeps loads close together', () => {
    const policy = testPolicy('power_of_two');
    const workers = testWorkers(10);
    for (let i = 0; i < 1000; i += 1) place(policy, workers, request);
    const loads = workers.map(({ pressure }) => pressure);
    expect(Math.max(...loads) - Math.min(...loads)).toBeLessThan(12);
  });
});
