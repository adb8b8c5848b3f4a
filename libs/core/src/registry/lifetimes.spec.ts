import { ClusterKit, outcome, prefixKey, registration } from '../testing/cluster-kit.contract-suite.js';

const a = 'http://10.0.0.1:8000';
const b = 'http://10.0.0.2:8000';

describe('one worker per continuously registered (role, endpoint)', () => {
  it('keeps the worker object, its load and its count over heartbeats', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    const { grantId } = kit.reserveSingle();
    for (let ping = 0; ping < 20; ping += 1) {
      kit.advance(3_000);
      expect(kit.cluster.register(registration('regular', a)).kind).toBe('heartbeat');
      expect(kit.worker('regular', a)).toBe(worker);
    }
    expect(worker.load).toBe(1);
    kit.end(grantId, 'succeeded');
    expect([worker.load, worker.processed]).toEqual([0, 1]);
  });

  it('lets one URL be prefill and decode, with loads of their own, whatever the order of pings', () => {
    const kit = new ClusterKit();
    const prefill = kit.join('prefill', a);
    const decode = kit.join('decode', a);
    const grant = kit.reservePair();
    expect([prefill.load, decode.load]).toEqual([1, 0]);
    for (const role of ['prefill', 'decode', 'decode', 'prefill'] as const) expect(kit.register(role, a)?.departure).toBeNull();
    kit.prefillDone(grant.grantId);
    kit.beginDecode(grant.grantId);
    expect([prefill.load, decode.load]).toEqual([0, 1]);
    expect(kit.worker('prefill', a)).toBe(prefill);
    expect(kit.worker('decode', a)).toBe(decode);
  });

  it('lets a whole-truth source take one role away without touching the other', () => {
    const kit = new ClusterKit();
    kit.join('prefill', a, { source: 'kubernetes' });
    const decode = kit.join('decode', a, { source: 'kubernetes' });
    kit.cluster.withdraw('prefill', a, 'kubernetes');
    expect(kit.find('prefill', a)).toBeUndefined();
    expect(kit.worker('decode', a)).toBe(decode);
  });
});

describe('a new lifetime', () => {
  it('begins with a registration after expiry, though nothing has swept the old one', () => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a);
    const { grantId } = kit.reserveSingle();
    // Only the clock moves: no tick looks for what is over.
    for (let step = 0; step < 20; step += 1) kit.cluster.listeningClock.tick((kit.nowMs += 500));
    const fresh = kit.register('regular', a);
    expect(fresh?.generation).toBeGreaterThan(old.generation);
    expect([fresh?.load, fresh?.processed, fresh?.health.gated]).toEqual([0, 0, true]);
    expect(old.departure?.reason).toBe('expired');
    kit.end(grantId, 'succeeded');
    expect([old.processed, fresh?.processed]).toEqual([1, 0]);
  });

  it('is not begun one moment before the expiry', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.advance(9_750);
    expect(kit.register('regular', a)).toBe(worker);
    kit.advance(10_000);
    expect(worker.departure?.reason).toBe('expired');
  });

  it('has no affinity', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    kit.join('regular', a);
    kit.join('regular', b);
    const first = kit.reserveSingle({ prefixKey: prefixKey(1) });
    kit.firstByte(first.grantId, 'single');
    kit.end(first.grantId, 'succeeded');
    const owner = first.worker.endpoint;
    kit.register('regular', owner, { instance: 'one' });
    kit.join('regular', owner, { instance: 'two' });
    expect(kit.reserveSingle({ prefixKey: prefixKey(1) }).worker.reason).toBe('no_match');
  });

  it.each([
    ['a changed ZMQ address', { zmqAddress: 'tcp://a' }, { zmqAddress: 'tcp://b' }, 'zmq_address'],
    ['a changed instance', { instance: '1' }, { instance: '2' }, 'instance'],
    ['a start more than 2 s later', { startedAtSecs: 100 }, { startedAtSecs: 102.1 }, 'start_time'],
  ] as const)('is proven by %s', (_name, before, after, proof) => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a, before);
    const registered = kit.cluster.register(registration('regular', a, after));
    expect(registered).toMatchObject({ kind: 'replaced', proof });
    expect(kit.worker('regular', a).generation).toBeGreaterThan(old.generation);
    expect(old.departure).toMatchObject({ reason: 'replaced', processGone: true });
  });

  it.each([
    ['from unknown to a value', {}, { zmqAddress: 'tcp://a', instance: '1', startedAtSecs: 100 }],
    ['from a value to unknown', { zmqAddress: 'tcp://a', instance: '1', startedAtSecs: 100 }, {}],
    ['a start within 2 s', { startedAtSecs: 100 }, { startedAtSecs: 102 }],
    ['an earlier start', { startedAtSecs: 100 }, { startedAtSecs: 50 }],
  ] as const)('is not proven by %s', (_name, before, after) => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a, before);
    expect(kit.register('regular', a, after)).toBe(worker);
  });

  it('is proven against a value heard before a ping that left it out', () => {
    const kit = new ClusterKit();
    kit.join('regular', a, { instance: '1' });
    kit.register('regular', a);
    expect(kit.cluster.register(registration('regular', a, { instance: '2' })).kind).toBe('replaced');
  });

  it('is proven by a start time that a probe read', () => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a, {}, { startedAtSecs: 100 });
    kit.probe(old, { startedAtSecs: 101.5 });
    expect(kit.worker('regular', a)).toBe(old);
    kit.probe(old, { startedAtSecs: 200 });
    const fresh = kit.worker('regular', a);
    expect(fresh).not.toBe(old);
    expect(fresh.health.gated).toBe(true);
    kit.probe(fresh, { startedAtSecs: 200 });
    expect(kit.worker('regular', a)).toBe(fresh);
  });

  it('is not proven over and over when a source and the engine differ on the start', () => {
    const kit = new ClusterKit();
    kit.join('regular', a, { startedAtSecs: 100 }, { startedAtSecs: 105 });
    const { generation } = kit.worker('regular', a);
    for (let round = 0; round < 5; round += 1) {
      kit.register('regular', a, { startedAtSecs: 100 });
      kit.probe(kit.worker('regular', a), { startedAtSecs: 105 });
    }
    expect(kit.worker('regular', a).generation).toBe(generation);
  });

  it('is proven once by one restart, though the probe and the ping tell of it one after the other', () => {
    const kit = new ClusterKit();
    kit.join('regular', a, { zmqAddress: 'tcp://old', instance: '1' }, { startedAtSecs: 100 });
    kit.probe(kit.worker('regular', a), { startedAtSecs: 200 });
    const fresh = kit.worker('regular', a);
    expect(kit.register('regular', a, { zmqAddress: 'tcp://new', instance: '2', startedAtSecs: 200 })).toBe(fresh);
    expect(fresh.zmqAddress).toBe('tcp://new');
    expect(kit.register('regular', a, { zmqAddress: 'tcp://newer' })).not.toBe(fresh);
  });

  it('that a probe proves does not live longer for it than its pings allow', () => {
    const kit = new ClusterKit();
    kit.join('regular', a, {}, { startedAtSecs: 100 });
    kit.advance(9_000);
    kit.probe(kit.worker('regular', a), { startedAtSecs: 200 });
    expect(kit.cluster.heartbeatOf(kit.worker('regular', a))).toBe('late');
    kit.advance(1_000);
    expect(kit.find('regular', a)).toBeUndefined();
  });

  it('is proven by an engine id not seen on that worker before', () => {
    const kit = new ClusterKit();
    const prefill = kit.join('prefill', a);
    kit.join('decode', b);
    for (const engineId of ['one', 'one', null]) {
      const { grantId } = kit.reservePair();
      kit.prefillDone(grantId, { engineId });
      expect(kit.worker('prefill', a)).toBe(prefill);
      kit.end(grantId, 'cancelled');
    }
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId, { engineId: 'two' });
    expect(kit.worker('prefill', a)).not.toBe(prefill);
    // The hand-off came from the process that was not the one that was placed on.
    expect(kit.cluster.scheduler.beginDecode(grantId, [])).toEqual({ kind: 'stale', cause: 'prefill_departed' });
  });

  it('takes a number that no lifetime had before, over restarts of the router too', () => {
    const kit = new ClusterKit({ generationStep: 3 });
    const seen = new Set<number>();
    let largest = 0;
    for (let round = 0; round < 12; round += 1) {
      const { generation } = kit.register('regular', a, { instance: `${round}` }) ?? { generation: 0 };
      expect(seen.has(generation)).toBe(false);
      expect(generation).toBeGreaterThan(largest);
      largest = generation;
      seen.add(generation);
      if (round % 4 === 3) kit.restart();
    }
  });

  it('leaves everything as it was when no number can be had', () => {
    const kit = new ClusterKit({ generationStep: 1 });
    const worker = kit.join('regular', a, { instance: '1' });
    kit.store.failing = true;
    expect(() => kit.register('regular', a, { instance: '2' })).toThrow('store');
    expect(() => kit.register('regular', b)).toThrow('store');
    expect(kit.worker('regular', a)).toBe(worker);
    expect(worker.selectable).toBe(true);
    expect(kit.find('regular', b)).toBeUndefined();
    kit.store.failing = false;
    expect(kit.register('regular', a, { instance: '2' })).not.toBe(worker);
  });
});

describe('a proof that comes while no number can be had', () => {
  it('waits, and requests and probes go on', () => {
    const kit = new ClusterKit({ generationStep: 1 });
    const prefill = kit.join('prefill', a, {}, { startedAtSecs: 100 });
    kit.join('decode', b);
    const first = kit.reservePair();
    kit.prefillDone(first.grantId, { engineId: 'one' });
    kit.end(first.grantId, 'cancelled', { phase: 'decode' });
    kit.store.failing = true;
    const second = kit.reservePair();
    kit.prefillDone(second.grantId, { engineId: 'two' });
    kit.probe(prefill, { startedAtSecs: 200 });
    expect(kit.worker('prefill', a)).toBe(prefill);
    expect(kit.beginDecode(second.grantId)).toBe(kit.worker('decode', b).id);
    kit.store.failing = false;
    kit.probe(prefill, { startedAtSecs: 200 });
    expect(kit.worker('prefill', a)).not.toBe(prefill);
  });
});

describe('suspicion', () => {
  it.each(['connect_refused', 'reset'] as const)('of %s keeps the generation, and forgets the prefixes once a later round is good', (fault) => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    const worker = kit.join('regular', a);
    const other = kit.join('regular', b);
    const first = kit.reserveSingle({ prefixKey: prefixKey(1), exclude: [other.id] });
    kit.firstByte(first.grantId, 'single');
    kit.end(first.grantId, 'failed', { fault });
    expect(worker.selectable).toBe(false);
    expect(worker.unselectableBecause).toEqual(['restart_check']);
    expect(worker.health.state).toBe('unhealthy');
    kit.probe(worker, { startedAtMs: kit.nowMs - 1 });
    expect(worker.selectable).toBe(false);
    kit.probe(worker, { healthy: false });
    expect(worker.selectable).toBe(false);
    kit.nowMs += 10;
    kit.probe(worker);
    expect(worker.selectable).toBe(true);
    expect(kit.worker('regular', a)).toBe(worker);
    expect(kit.reserveSingle({ prefixKey: prefixKey(1) }).worker.reason).toBe('no_match');
  });

  it.each(['connect_timeout', 'first_byte_timeout', 'invalid_response', null] as const)('is not raised by %s', (fault) => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.end(kit.reserveSingle().grantId, 'failed', { fault });
    expect(worker.selectable).toBe(true);
  });

  it('is raised by a probe that nobody listens to, once the worker had passed its gate', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.probe(worker, { healthy: false, refused: true });
    expect(worker.unselectableBecause).toEqual(['restart_check']);
    kit.nowMs += 10;
    kit.probe(worker);
    expect(worker.selectable).toBe(true);
    const gated = kit.register('regular', b)!;
    kit.probe(gated, { healthy: false, refused: true });
    expect(gated.unselectableBecause).toEqual(['gated']);
  });

  it('falls on the worker of the phase that failed', () => {
    const kit = new ClusterKit();
    const prefill = kit.join('prefill', a);
    const decode = kit.join('decode', b);
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    kit.beginDecode(grantId);
    kit.end(grantId, 'failed', { phase: 'decode', fault: 'reset' });
    expect([prefill.selectable, decode.selectable]).toEqual([true, false]);
  });

  it('does not reach the successor', () => {
    const kit = new ClusterKit();
    kit.join('regular', a, { instance: '1' });
    const { grantId } = kit.reserveSingle();
    const fresh = kit.join('regular', a, { instance: '2' });
    const before = kit.eventsOf('health').length;
    kit.end(grantId, 'failed', { fault: 'reset' });
    expect(fresh.selectable).toBe(true);
    expect(kit.eventsOf('health')).toHaveLength(before);
  });
});

describe('sources', () => {
  it('keep a worker while one of them holds, and show that the pings are gone', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a, { zmqAddress: 'tcp://a' });
    kit.register('regular', a, { source: 'static' });
    kit.advance(10_250);
    expect(kit.worker('regular', a)).toBe(worker);
    expect(kit.cluster.heartbeatOf(worker)).toBe('lost');
    expect(worker.selectable).toBe(true);
    expect(kit.register('regular', a, { zmqAddress: 'tcp://a' })).toBe(worker);
    expect(kit.cluster.heartbeatOf(worker)).toBe('ok');
    kit.cluster.withdraw('regular', a, 'static');
    expect(kit.worker('regular', a)).toBe(worker);
    kit.advance(10_250);
    expect(kit.find('regular', a)).toBeUndefined();
  });

  it('prove a restart also when the pings had been lost meanwhile', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a, { instance: '1' });
    kit.register('regular', a, { source: 'static' });
    kit.advance(10_250);
    expect(kit.register('regular', a, { instance: '2' })).not.toBe(worker);
    expect(kit.worker('regular', a).lifetime.sources).toEqual(['zmq', 'static']);
  });

  it('that name the engine differently prove nothing', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a, { zmqAddress: 'tcp://a' });
    kit.drain(worker);
    expect(kit.register('regular', a, { source: 'admin', zmqAddress: 'tcp://other' })).toBe(worker);
    expect(worker.adminState).toBe('drained');
  });
});

describe('the listening clock', () => {
  it('expires nobody while the router could not hear', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.nowMs += 20_000;
    kit.cluster.tick();
    expect(kit.worker('regular', a)).toBe(worker);
    kit.advance(9_250);
    expect(kit.worker('regular', a)).toBe(worker);
    kit.advance(250);
    expect(kit.find('regular', a)).toBeUndefined();
  });
});

describe('addresses', () => {
  it('never mix workers, whatever the order of registrations', () => {
    const kit = new ClusterKit({ connector: 'p2p-nccl', policy: 'round_robin' });
    const endpoints = [1, 2, 3, 4].map((host) => `http://10.0.1.${host}:8000`);
    for (let round = 0; round < 6; round += 1) {
      for (const endpoint of round % 2 === 0 ? endpoints : [...endpoints].reverse()) {
        for (const role of round % 3 === 0 ? (['prefill', 'decode'] as const) : (['decode', 'prefill'] as const)) {
          kit.join(role, endpoint, { zmqAddress: `${role}@${endpoint}#${round}` });
        }
        const grant = kit.reserve();
        if (grant.kind !== 'pair') throw new Error('pair expected');
        for (const placed of [grant.prefill, grant.decode!]) {
          expect(placed.zmqAddress?.startsWith(`${placed.role}@${placed.endpoint}#`)).toBe(true);
          expect(placed.zmqAddress).toBe(kit.worker(placed.role, placed.endpoint).zmqAddress);
        }
        kit.cluster.scheduler.end(grant.grantId, outcome('cancelled'));
      }
    }
  });
});
