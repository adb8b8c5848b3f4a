import { describePolicyContract, place, testPolicy, testRequest, testWorkers } from './policy.contract-suite.js';
import { RandomPolicy } from './random.policy.js';

describePolicyContract('random');

describe('random', () => {
  it('chooses every worker equally often, whatever its load', () => {
    const policy = testPolicy('random');
    const workers = testWorkers(4);
    workers[0]!.pressure = 1000;
    for (let i = 0; i < 4000; i += 1) place(policy, workers, testRequest('same'));
    for (const { turn } of workers) expect(turn).toBeGreaterThan(850);
  });

  it('maps the whole range of randomness to candidates', () => {
    const workers = testWorkers(3);
    const at = (value: number) => new RandomPolicy(() => value).select(workers);
    expect(at(0)).toMatchObject({ worker: workers[0], reason: 'random', margin: null });
    expect(at(0.5)?.worker).toBe(workers[1]);
    expect(at(1 - Number.EPSILON)?.worker).toBe(workers[2]);
  });
});
