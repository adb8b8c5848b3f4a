import { describePolicyContract, place, testPolicy, testRequest, testWorkers } from './policy.contract-suite.js';

describePolicyContract('least_load');

describe('least_load', () => {
  const policy = testPolicy('least_load');
  const request = testRequest('abc');

  it('takes the smallest pressure, and says by how much it won', () => {
    const workers = testWorkers(3);
    [workers[0]!.pressure, workers[1]!.pressure, workers[2]!.pressure] = [9, 2, 5];
    const choice = policy.select(workers, request);
    expect(choice).toMatchObject({ worker: workers[1], reason: 'least_load', margin: 3 });
    expect(workers.map((worker) => choice?.scores?.score(worker))).toEqual([9, 2, 5]);
  });

  it('breaks ties by turn, then by index', () => {
    const workers = testWorkers(3);
    workers[0]!.turn = 7;
    expect(policy.select(workers.toReversed(), request)).toMatchObject({ worker: workers[1], margin: 0 });
  });

  it('spreads cold traffic evenly', () => {
    const workers = testWorkers(6);
    for (let i = 0; i < 600; i += 1) place(policy, workers, request).pressure = 0;
    for (const { turn } of workers) expect(turn).toBe(100);
  });
});
