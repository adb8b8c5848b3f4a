import { describePolicyContract, place, testPolicy, testRequest, type TestWorker, testWorkers } from './policy.contract-suite.js';
import { type Policy } from './policy.js';

describePolicyContract('sticky_least_loaded');

describe('sticky_least_loaded', () => {
  const setUp = (count: number): { policy: Policy<TestWorker>; workers: TestWorker[]; clock: { ms: number } } => {
    const clock = { ms: 0 };
    const policy = testPolicy('sticky_least_loaded', {}, () => clock.ms);
    const workers = testWorkers(count);
    for (const worker of workers) policy.join(worker);
    return { policy, workers, clock };
  };

  it('keeps a session where it is, whatever the load', () => {
    const { policy, workers } = setUp(3);
    const home = place(policy, workers, testRequest('', 'a'));
    home.pressure = 100;
    expect(policy.select(workers, testRequest('other prompt', 'a'))).toMatchObject({ worker: home, reason: 'session' });
  });

  it('binds nothing before commit', () => {
    const { policy, workers } = setUp(2);
    policy.select(workers, testRequest('', 'a'));
    expect(policy.select(workers, testRequest('', 'a'))?.reason).toBe('least_load');
  });

  it('gives new sessions to the worker with the fewest, then (pressure, turn, index)', () => {
    const { policy, workers } = setUp(3);
    for (const session of ['a', 'b', 'c', 'd']) place(policy, workers, testRequest('', session)).pressure = 0;
    const choice = policy.select(workers, testRequest('', 'e'));
    expect(workers.map((worker) => choice?.scores?.score(worker))).toEqual([2, 1, 1]);
    expect(choice?.worker).toBe(workers[1]);
    workers[1]!.pressure = 1;
    expect(policy.select(workers, testRequest('', 'e'))?.worker).toBe(workers[2]);
    expect(policy.select(workers, testRequest(''))?.worker).toBe(workers[2]);
  });

  it('keeps the sessions of models apart', () => {
    const { policy, workers } = setUp(2);
    place(policy, workers, testRequest('', 'a', 'm1'));
    expect(policy.select(workers, testRequest('', 'a', 'm2'))).toMatchObject({ worker: workers[1], reason: 'least_load' });
  });

  it('moves a session whose worker is no candidate, and leaves it there', () => {
    const { policy, workers } = setUp(2);
    const home = place(policy, workers, testRequest('', 'a'));
    const other = workers.find((worker) => worker !== home)!;
    expect(place(policy, [other], testRequest('', 'a'))).toBe(other);
    expect(policy.select(workers, testRequest('', 'a'))).toMatchObject({ worker: other, reason: 'session' });
    expect(policy.select(workers, testRequest('', 'b'))?.worker).toBe(home);
  });

  it('frees all sessions of a worker that left or was forgotten', () => {
    const { policy, workers } = setUp(2);
    for (const session of ['a', 'b', 'c', 'd']) place(policy, workers, testRequest('', session));
    policy.forget(workers[0]!);
    expect(policy.select(workers, testRequest('', 'a'))).toMatchObject({ worker: workers[0], reason: 'least_load' });
    policy.leave(workers[1]!);
    policy.join(workers[1]!);
    const choice = policy.select(workers, testRequest('', 'b'));
    expect(choice?.reason).toBe('least_load');
    expect(workers.map((worker) => choice?.scores?.score(worker))).toEqual([0, 0]);
  });

  it('forgets a session after two idle hours, not two hours after its beginning', () => {
    const { policy, workers, clock } = setUp(2);
    const home = place(policy, workers, testRequest('', 'a'));
    clock.ms = 7_199_999;
    expect(place(policy, workers, testRequest('', 'a'))).toBe(home);
    clock.ms = 2 * 7_199_999;
    expect(policy.select(workers, testRequest('', 'a'))?.reason).toBe('session');
    clock.ms += 1;
    const choice = policy.select(workers, testRequest('', 'a'));
    expect(choice?.reason).toBe('least_load');
    expect(workers.map((worker) => choice?.scores?.score(worker))).toEqual([0, 0]);
  });

  it('holds 262,144 sessions and loses the one used longest ago', () => {
    const { policy, workers } = setUp(2);
    for (let i = 0; i < 262_144; i += 1) policy.commit(workers[i % 2]!, testRequest('', `${i}`));
    policy.commit(workers[0]!, testRequest('', '0'));
    policy.commit(workers[0]!, testRequest('', 'new'));
    expect(policy.select(workers, testRequest('', '0'))?.reason).toBe('session');
    expect(policy.select(workers, testRequest('', '1'))?.reason).toBe('least_load');
    expect(policy.select(workers, testRequest('', '2'))?.reason).toBe('session');
  });
});
