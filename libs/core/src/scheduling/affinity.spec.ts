import { affinityOf, ClusterKit, outcome, prefixKey } from '../testing/cluster-kit.contract-suite.js';
import { type Role } from '../words.js';

const endpoint = (host: number): string => `http://10.0.0.${host}:8000`;

/** Bytes the workers of `role` are believed to hold, by id. */
function covered(kit: ClusterKit, role: Role): Record<string, number> {
  const { policy, workers } = kit.cluster.fleet.pools[role];
  return Object.fromEntries(workers.map((worker) => [worker.id, affinityOf(policy).coveredBytes(worker)]));
}

const total = (kit: ClusterKit, role: Role): number => Object.values(covered(kit, role)).reduce((sum, bytes) => sum + bytes, 0);

describe('prefix ownership', () => {
  it('brings a returning prefix to its owner', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    for (const host of [1, 2, 3]) kit.join('regular', endpoint(host));
    const owners = [1, 2, 3].map((name) => {
      const { worker, grantId } = kit.reserveSingle({ prefixKey: prefixKey(name) });
      kit.firstByte(grantId, 'single');
      kit.end(grantId, 'succeeded');
      return worker.workerId;
    });
    expect(new Set(owners).size).toBe(3);
    for (const name of [2, 1, 3, 3, 1]) {
      const { worker, grantId } = kit.reserveSingle({ prefixKey: prefixKey(name) });
      expect([worker.workerId, worker.reason]).toEqual([owners[name - 1], 'affinity']);
      kit.end(grantId, 'succeeded');
    }
  });

  it('keeps 50 simultaneous requests with one new prefix together within the balance rule', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    for (const host of [1, 2, 3, 4]) kit.join('regular', endpoint(host));
    for (let request = 0; request < 50; request += 1) kit.reserveSingle({ prefixKey: prefixKey(1) });
    const loads = [...kit.cluster.fleet.workers()].map(({ load }) => load).sort((x, y) => y - x);
    expect(loads.reduce((sum, load) => sum + load, 0)).toBe(50);
    // Nine go to the owner before it is 8 ahead and more than half as loaded again; then the least loaded take turns.
    expect(loads[0]).toBeGreaterThan(50 / 4);
    expect(loads[0]! - loads[3]!).toBeLessThanOrEqual(9);
  });

  it('of 50 that all fail before their first byte leaves no owner', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    for (const host of [1, 2, 3, 4]) kit.join('regular', endpoint(host));
    const grants = Array.from({ length: 50 }, () => kit.reserveSingle({ prefixKey: prefixKey(1) }).grantId);
    expect(total(kit, 'regular')).toBeGreaterThan(0);
    for (const [at, grantId] of grants.entries()) kit.end(grantId, at % 2 === 0 ? 'failed' : 'cancelled', { status: 500 });
    expect(total(kit, 'regular')).toBe(0);
    expect(kit.reserveSingle({ prefixKey: prefixKey(1) }).worker.reason).toBe('no_match');
  });

  it('that another request confirmed outlives a failure', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    for (const host of [1, 2]) kit.join('regular', endpoint(host));
    const [good, bad] = [kit.reserveSingle({ prefixKey: prefixKey(1) }), kit.reserveSingle({ prefixKey: prefixKey(1) })];
    expect(good.worker.workerId).toBe(bad.worker.workerId);
    kit.firstByte(good.grantId, 'single');
    kit.end(bad.grantId, 'failed');
    expect(kit.reserveSingle({ prefixKey: prefixKey(1) }).worker.reason).toBe('affinity');
  });

  it('is kept when a stream breaks after its first byte', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    kit.join('regular', endpoint(1));
    const { grantId } = kit.reserveSingle({ prefixKey: prefixKey(1) });
    kit.firstByte(grantId, 'single');
    kit.end(grantId, 'failed', { fault: 'idle_timeout' });
    expect(total(kit, 'regular')).toBe(8 * 64);
  });

  it('is confirmed leg by leg, and withdrawn where nothing came', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    kit.join('prefill', endpoint(1));
    kit.join('decode', endpoint(2));
    const { grantId } = kit.reservePair({ prefixKey: prefixKey(1) });
    kit.prefillDone(grantId);
    kit.beginDecode(grantId);
    expect(total(kit, 'decode')).toBeGreaterThan(0);
    kit.end(grantId, 'failed', { phase: 'decode', status: 500 });
    expect([total(kit, 'prefill'), total(kit, 'decode')]).toEqual([8 * 64, 0]);
  });

  it('is withdrawn from a bound decode worker when prefill fails', () => {
    const kit = new ClusterKit({ policy: 'cache_aware', connector: 'p2p-nccl' });
    kit.join('prefill', endpoint(1));
    kit.join('decode', endpoint(2));
    const { grantId } = kit.reservePair({ prefixKey: prefixKey(1) });
    kit.end(grantId, 'failed', { phase: 'prefill', status: 500 });
    expect([total(kit, 'prefill'), total(kit, 'decode')]).toEqual([0, 0]);
  });

  it('is withdrawn from a decode worker that the hand-off never reached', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    kit.join('prefill', endpoint(1));
    kit.join('decode', endpoint(2));
    kit.join('decode', endpoint(3));
    const { grantId } = kit.reservePair({ prefixKey: prefixKey(1) });
    kit.prefillDone(grantId);
    const first = kit.beginDecode(grantId);
    kit.cluster.scheduler.beginDecode(grantId, [first], outcome('failed', { phase: 'decode', fault: 'connect_timeout' }));
    kit.firstByte(grantId, 'decode');
    kit.end(grantId, 'succeeded', { phase: 'decode' });
    expect(covered(kit, 'decode')[first]).toBe(0);
    expect(total(kit, 'decode')).toBe(8 * 64);
  });

  it('ends with its worker at once, and what is still in flight brings nothing back', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    kit.join('regular', endpoint(1), { instance: '1' });
    kit.join('regular', endpoint(2));
    const first = kit.reserveSingle({ prefixKey: prefixKey(1) });
    expect(first.worker.endpoint).toBe(endpoint(1));
    kit.join('regular', endpoint(1), { instance: '2' });
    expect(total(kit, 'regular')).toBe(0);
    kit.firstByte(first.grantId, 'single');
    kit.end(first.grantId, 'succeeded');
    expect(total(kit, 'regular')).toBe(0);
    expect(kit.reserveSingle({ prefixKey: prefixKey(1) }).worker.reason).toBe('no_match');
  });

  it('lost by a suspicion is not brought back by what was in flight', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    const worker = kit.join('regular', endpoint(1));
    const streaming = kit.reserveSingle({ prefixKey: prefixKey(1) });
    kit.end(kit.reserveSingle({ prefixKey: prefixKey(2) }).grantId, 'failed', { fault: 'reset' });
    kit.nowMs += 1;
    kit.probe(worker);
    kit.firstByte(streaming.grantId, 'single');
    kit.end(streaming.grantId, 'succeeded');
    expect([worker.selectable, total(kit, 'regular')]).toEqual([true, 0]);
  });

  it('yields when its owner is overloaded, and counts again afterwards', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    for (const host of [1, 2]) kit.join('regular', endpoint(host));
    const first = kit.reserveSingle({ prefixKey: prefixKey(1) });
    kit.firstByte(first.grantId, 'single');
    const grants = Array.from({ length: 8 }, () => kit.reserveSingle({ prefixKey: prefixKey(1) }));
    expect(new Set(grants.map(({ worker }) => worker.workerId))).toEqual(new Set([first.worker.workerId]));
    const over = kit.reserveSingle({ prefixKey: prefixKey(1) });
    expect([over.worker.workerId === first.worker.workerId, over.worker.reason]).toEqual([false, 'imbalance']);
    kit.end(over.grantId, 'failed');
    for (const { grantId } of grants) kit.end(grantId, 'succeeded');
    expect(kit.reserveSingle({ prefixKey: prefixKey(1) }).worker).toMatchObject({ workerId: first.worker.workerId, reason: 'affinity' });
  });
});
