import { ClusterKit, registration } from '../testing/cluster-kit.contract-suite.js';

const a = 'http://10.0.0.1:8000';
const b = 'http://10.0.0.2:8000';

describe('evict', () => {
  it('takes the worker out now, lets its work end alone, and refuses its pings', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    const { grantId } = kit.reserveSingle();
    const evicted = kit.evict(worker, { reason: 'bad GPU' });
    expect(evicted).toMatchObject({ ok: true, value: { inflight: 1, quarantine: { reason: 'bad GPU' } } });
    expect(kit.find('regular', a)).toBeUndefined();
    expect(kit.register('regular', a)).toBeNull();
    expect(kit.revocations).toEqual([{ grantId, workerId: worker.id, cause: 'departed', abortRunning: false }]);
    expect([...kit.cluster.fleet.departedWorkers]).toEqual([worker]);
    kit.end(grantId, 'succeeded');
    expect([...kit.cluster.fleet.departedWorkers]).toEqual([]);
    expect(kit.cluster.fleet.byId(worker.id)).toBeUndefined();
    expect(worker.ended.succeeded).toBe(1);
  });

  it('aborts what runs when that was asked', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    const { grantId } = kit.reserveSingle();
    kit.evict(worker, { abortInflight: true });
    expect(kit.revocations.at(-1)).toEqual({ grantId, workerId: worker.id, cause: 'evicted', abortRunning: true });
  });

  it.each([
    ['zmq', 300_000, 300_250],
    ['zmq', 1_000, 1_250],
  ] as const)('lets pings of %s back in after a quarantine of %i ms', (_source, quarantineMs, laterMs) => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a);
    kit.evict(old, { quarantineMs });
    kit.advance(quarantineMs - 500);
    expect(kit.register('regular', a)).toBeNull();
    kit.advance(laterMs - quarantineMs + 500);
    expect(kit.register('regular', a)?.generation).toBeGreaterThan(old.generation);
    expect(kit.store.quarantine.size).toBe(0);
  });

  it('has a lasting statement come back by itself after the quarantine', () => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a, { source: 'static' });
    kit.evict(old, { quarantineMs: 1_000 });
    kit.advance(750);
    expect(kit.find('regular', a)).toBeUndefined();
    kit.advance(500);
    expect(kit.worker('regular', a).generation).toBeGreaterThan(old.generation);
  });

  it('without quarantine has a lasting statement come back at once', () => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a, { source: 'file' });
    expect(kit.evict(old, { quarantineMs: 0 })).toMatchObject({ ok: true, value: { quarantine: null } });
    expect(kit.worker('regular', a)).not.toBe(old);
  });

  it('until readmitted ends only so', () => {
    const kit = new ClusterKit();
    kit.evict(kit.join('regular', a, { source: 'static' }), { quarantineMs: null });
    kit.advance(100_000);
    expect(kit.find('regular', a)).toBeUndefined();
    expect(kit.cluster.operations.readmit('regular', a, 'ops')).toEqual({ ok: true, value: true });
    expect(kit.worker('regular', a).lifetime.sources).toEqual(['static']);
    expect(kit.cluster.operations.readmit('regular', a, 'ops')).toEqual({ ok: true, value: false });
  });

  it('forgets a statement that was taken back during the quarantine', () => {
    const kit = new ClusterKit();
    kit.evict(kit.join('regular', a, { source: 'kubernetes' }), { quarantineMs: 1_000 });
    kit.cluster.withdraw('regular', a, 'kubernetes');
    kit.advance(2_000);
    expect(kit.find('regular', a)).toBeUndefined();
    expect(kit.register('regular', a)?.lifetime.sources).toEqual(['zmq']);
  });

  it('deletes what an operator had added', () => {
    const kit = new ClusterKit();
    kit.cluster.operations.add(registration('regular', a, { source: 'admin' }), 'ops');
    expect(kit.store.added.size).toBe(1);
    kit.evict(kit.worker('regular', a), { quarantineMs: 1_000 });
    expect(kit.store.added.size).toBe(0);
    kit.advance(2_000);
    expect(kit.find('regular', a)).toBeUndefined();
  });

  it('holds over a restart of the router, for lasting statements and pings', () => {
    const kit = new ClusterKit();
    kit.evict(kit.join('regular', a), { quarantineMs: 10_000 });
    kit.restart();
    expect(kit.register('regular', a)).toBeNull();
    expect(kit.register('regular', a, { source: 'static' })).toBeNull();
    kit.advance(10_250);
    expect(kit.worker('regular', a).lifetime.sources).toEqual(['static']);
  });

  it('leaves a drain intent in force for the return', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.drain(worker, { until: 'undrain' });
    kit.evict(worker, { quarantineMs: 0 });
    expect(kit.join('regular', a).adminState).toBe('drained');
  });

  it('does not touch what came after the worker that was meant', () => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a, { instance: '1' });
    const fresh = kit.join('regular', a, { instance: '2' });
    const gone = { ok: false, code: 'generation_changed', successorId: fresh.id };
    expect(kit.evict(old)).toEqual(gone);
    expect(kit.cluster.operations.remove(old, 'ops', true)).toEqual(gone);
    kit.cluster.registry.evict(old.lifetime);
    expect(kit.worker('regular', a)).toBe(fresh);
    expect(kit.cluster.registry.get('regular', a)).toBe(fresh.lifetime);
  });

  it('is refused whole when it cannot be kept', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.store.failing = true;
    expect(kit.evict(worker)).toEqual({ ok: false, code: 'store_unavailable' });
    expect(kit.worker('regular', a)).toBe(worker);
    expect(kit.cluster.quarantine.list()).toEqual([]);
  });

  it('is refused whole when only the added statement cannot be deleted', () => {
    const kit = new ClusterKit();
    kit.cluster.operations.add(registration('regular', a, { source: 'admin' }), 'ops');
    kit.probe(kit.worker('regular', a));
    kit.store.deleteAdded = () => {
      kit.store.failing = true;
      kit.store.saveAdded(registration('regular', a));
    };
    expect(kit.evict(kit.worker('regular', a))).toEqual({ ok: false, code: 'store_unavailable' });
    expect(kit.cluster.quarantine.list()).toEqual([]);
    expect(kit.worker('regular', a).selectable).toBe(true);
  });

  it('is done although no number can be had for what comes back', () => {
    const kit = new ClusterKit({ generationStep: 1 });
    const old = kit.join('regular', a, { source: 'static' });
    kit.store.failing = true;
    expect(kit.evict(old, { quarantineMs: 0 }).ok).toBe(true);
    kit.advance(1_000);
    expect(kit.find('regular', a)).toBeUndefined();
    kit.store.failing = false;
    kit.advance(250);
    expect(kit.worker('regular', a)).not.toBe(old);
  });
});

describe('added workers', () => {
  const added = registration('regular', a, { source: 'admin', models: ['m'] });

  it('are there at once, once, and after a restart', () => {
    const kit = new ClusterKit();
    expect(kit.cluster.operations.add(added, 'ops')).toMatchObject({ ok: true, value: { endpoint: a } });
    expect(kit.cluster.operations.add(added, 'ops')).toEqual({ ok: false, code: 'worker_present' });
    kit.restart();
    expect([...(kit.worker('regular', a).models ?? [])]).toEqual(['m']);
  });

  it('may ping later, but are refused where somebody pings already', () => {
    const kit = new ClusterKit();
    kit.cluster.operations.add(added, 'ops');
    const worker = kit.worker('regular', a);
    kit.register('regular', a);
    expect(kit.worker('regular', a)).toBe(worker);
    expect(worker.lifetime.sources).toEqual(['admin', 'zmq']);
    kit.join('regular', b);
    expect(kit.cluster.operations.add({ ...added, endpoint: b }, 'ops')).toEqual({ ok: false, code: 'worker_present' });
    expect(kit.worker('regular', b).lifetime.sources).toEqual(['zmq']);
  });

  it('are refused while their endpoint is quarantined', () => {
    const kit = new ClusterKit();
    kit.evict(kit.join('regular', a));
    expect(kit.cluster.operations.add(added, 'ops')).toMatchObject({ ok: false, code: 'quarantined', entry: { endpoint: a } });
    expect(kit.store.added.size).toBe(0);
  });

  it('leave no statement behind when no number can be had', () => {
    const kit = new ClusterKit({ generationStep: 1 });
    kit.store.reserveGenerations = () => {
      kit.store.failing = true;
      try {
        kit.store.saveAdded(added);
      } finally {
        kit.store.failing = false;
      }
    };
    expect(kit.cluster.operations.add(added, 'ops')).toEqual({ ok: false, code: 'store_unavailable' });
    expect(kit.store.added.size).toBe(0);
    expect(kit.find('regular', a)).toBeUndefined();
  });

  it('go by force or drained, without quarantine', () => {
    const kit = new ClusterKit();
    kit.cluster.operations.add(added, 'ops');
    const worker = kit.worker('regular', a);
    expect(kit.cluster.operations.remove(worker, 'ops', false)).toEqual({ ok: false, code: 'not_drained' });
    kit.drain(worker);
    expect(kit.cluster.operations.remove(worker, 'ops', false).ok).toBe(true);
    expect([kit.find('regular', a), kit.store.added.size, kit.cluster.quarantine.list().length]).toEqual([undefined, 0, 0]);
  });
});

describe('find', () => {
  it('tells a current, a gone and an unknown worker apart', () => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a, { instance: '1' });
    const fresh = kit.join('regular', a, { instance: '2' });
    const { operations } = kit.cluster;
    expect(operations.find(fresh.id)).toEqual({ ok: true, value: fresh });
    expect(operations.find(fresh.id, fresh.generation)).toEqual({ ok: true, value: fresh });
    expect(operations.find(fresh.id, old.generation)).toEqual({ ok: false, code: 'generation_changed', successorId: fresh.id });
    expect(operations.find(old.id)).toEqual({ ok: false, code: 'generation_changed', successorId: fresh.id });
    expect(operations.find('regular-999')).toEqual({ ok: false, code: 'unknown_worker' });
    const other = kit.join('regular', b);
    kit.cluster.registry.evict(other.lifetime);
    expect(operations.find(other.id)).toEqual({ ok: false, code: 'generation_changed', successorId: null });
  });
});
