import { ClusterKit, drainWish, outcome, registration } from '../testing/cluster-kit.contract-suite.js';

const a = 'http://10.0.0.1:8000';
const b = 'http://10.0.0.2:8000';
const c = 'http://10.0.0.3:8000';

describe('a drained worker', () => {
  it('takes nothing new, lets what runs end, and then says so once', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    const { grantId } = kit.reserveSingle();
    kit.drain(worker, { reason: 'upgrade' });
    expect([worker.adminState, worker.selectable]).toEqual(['draining', false]);
    expect(kit.reserve({ shape: 'single' }).kind).toBe('unavailable');
    expect(kit.cluster.fleet.safeToStop(worker)).toBe(false);
    kit.firstByte(grantId, 'single');
    expect(worker.adminState).toBe('draining');
    kit.end(grantId, 'succeeded');
    expect(worker.adminState).toBe('drained');
    expect(kit.cluster.fleet.safeToStop(worker)).toBe(true);
    expect(kit.eventsOf('drained')).toHaveLength(1);
  });

  it('is drained at once when nothing runs', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.drain(worker);
    expect(worker.adminState).toBe('drained');
  });

  it('of prefill is not drained between the legs, but with the first decode byte', () => {
    const kit = new ClusterKit();
    const prefill = kit.join('prefill', a);
    kit.join('decode', b);
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    kit.drain(prefill);
    expect([prefill.load, prefill.kvOutHolds, prefill.adminState]).toEqual([0, 1, 'draining']);
    kit.beginDecode(grantId);
    expect(prefill.adminState).toBe('draining');
    kit.firstByte(grantId, 'decode');
    expect(prefill.adminState).toBe('drained');
  });

  it('of decode is not drained while it is bound, and does the work it is bound to', () => {
    const kit = new ClusterKit({ connector: 'p2p-nccl' });
    kit.join('prefill', a);
    const decode = kit.join('decode', b);
    const { grantId } = kit.reservePair();
    kit.drain(decode);
    expect([decode.load, decode.boundHolds, decode.adminState]).toEqual([0, 1, 'draining']);
    kit.prefillDone(grantId);
    expect(kit.beginDecode(grantId)).toBe(decode.id);
    expect([decode.load, decode.boundHolds, decode.adminState]).toEqual([1, 0, 'draining']);
    kit.firstByte(grantId, 'decode');
    expect(decode.adminState).toBe('draining');
    kit.end(grantId, 'succeeded', { phase: 'decode' });
    expect(decode.adminState).toBe('drained');
  });

  it('is not safe to stop while it has another role, or an earlier lifetime of one still works', () => {
    const kit = new ClusterKit();
    const prefill = kit.join('prefill', a);
    const decode = kit.join('decode', a);
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    kit.beginDecode(grantId);
    kit.firstByte(grantId, 'decode');
    kit.drain(prefill);
    expect(prefill.adminState).toBe('drained');
    expect(kit.cluster.fleet.safeToStop(prefill)).toBe(false);
    kit.evict(decode);
    expect(kit.cluster.fleet.safeToStop(prefill)).toBe(false);
    kit.end(grantId, 'succeeded', { phase: 'decode' });
    expect(kit.cluster.fleet.safeToStop(prefill)).toBe(true);
  });

  it('is not finished for a worker that left with work, until that has ended', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    const { grantId } = kit.reserveSingle();
    kit.drain(worker);
    kit.cluster.withdraw('regular', a, 'zmq');
    expect(worker.departure).not.toBeNull();
    expect(kit.cluster.fleet.finished(worker)).toBe(false);
    kit.end(grantId, 'succeeded', { phase: 'single' });
    expect(kit.cluster.fleet.finished(worker)).toBe(true);
  });

  it('comes back by undrain, which may be repeated', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.drain(worker);
    for (let time = 0; time < 2; time += 1) expect(kit.cluster.operations.undrain('regular', a, 'ops').ok).toBe(true);
    expect([worker.adminState, worker.selectable]).toEqual(['ready', true]);
    expect(kit.eventsOf('undrain')).toHaveLength(1);
    expect(kit.reserveSingle().worker.workerId).toBe(worker.id);
  });
});

describe('a drain intent', () => {
  it('outlives silence and return; the worker is not drained before the old generation has ended its streams', () => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a, { zmqAddress: 'tcp://a' });
    const { grantId } = kit.reserveSingle();
    kit.drain(old);
    kit.advance(11_000);
    expect(old.departure).toMatchObject({ reason: 'expired', processGone: false });
    const fresh = kit.join('regular', a, { zmqAddress: 'tcp://a' });
    expect([fresh.adminState, fresh.selectable]).toEqual(['draining', false]);
    kit.end(grantId, 'succeeded');
    expect(fresh.adminState).toBe('drained');
  });

  it('ends with a new process, and its unfinished work no longer counts', () => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a, { instance: '1' });
    kit.reserveSingle();
    kit.drain(old);
    kit.advance(11_000);
    const fresh = kit.join('regular', a, { instance: '2' });
    expect([fresh.adminState, fresh.selectable]).toEqual(['ready', true]);
    expect(kit.cluster.drains.list()).toEqual([]);
    expect(kit.store.drains.size).toBe(0);
    kit.drain(fresh);
    expect(old.load).toBe(1);
    expect(fresh.adminState).toBe('drained');
  });

  it('ends when the proof comes by a probe after the return', () => {
    const kit = new ClusterKit();
    kit.drain(kit.join('regular', a, {}, { startedAtSecs: 100 }));
    kit.advance(11_000);
    const fresh = kit.join('regular', a, {}, { startedAtSecs: 101 });
    expect(fresh.adminState).toBe('drained');
    kit.advance(11_000);
    expect(kit.join('regular', a, {}, { startedAtSecs: 200 }).adminState).toBe('ready');
  });

  it('that is to stay survives the new process, and remembers which process it last saw', () => {
    const kit = new ClusterKit();
    kit.drain(kit.join('regular', a, { instance: '1' }), { until: 'undrain' });
    const second = kit.join('regular', a, { instance: '2' });
    expect(second.adminState).toBe('drained');
    expect(kit.store.drains.get('regular|http://10.0.0.1:8000')?.facts.instance).toBe('2');
    // Asked to end with a restart from now on: the process that is there is no restart.
    kit.drain(second, { until: 'restart' });
    kit.restart();
    expect(kit.join('regular', a, { instance: '2' }).adminState).toBe('drained');
    expect(kit.join('regular', a, { instance: '3' }).adminState).toBe('ready');
  });

  it('outlives a restart of the router, with what proves another process', () => {
    const kit = new ClusterKit();
    kit.drain(kit.join('regular', a, { instance: '1' }));
    kit.restart();
    expect(kit.join('regular', a, { instance: '1' }).adminState).toBe('drained');
    kit.restart();
    expect(kit.join('regular', a, { instance: '2' }).adminState).toBe('ready');
    kit.restart();
    expect(kit.join('regular', a, { instance: '2' }).adminState).toBe('ready');
  });

  it('keeps what was learnt of the process after it was made', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.drain(worker);
    kit.probe(worker, { startedAtSecs: 100 });
    kit.restart();
    kit.join('regular', a);
    // Repeated with another reason before anything is known again.
    kit.drain(kit.worker('regular', a), { reason: 'again' });
    expect(kit.worker('regular', a).adminState).toBe('drained');
    kit.probe(kit.worker('regular', a), { startedAtSecs: 300 });
    expect(kit.worker('regular', a).adminState).toBe('ready');
  });

  it('may be there before its worker', () => {
    const kit = new ClusterKit();
    kit.cluster.operations.cordon('regular', a, drainWish({ until: 'undrain' }));
    expect(kit.join('regular', a).selectable).toBe(false);
    expect(kit.events.map(({ type }) => type)).toEqual(['drain', 'registered', 'drained', 'health']);
  });

  it('is repeated without a trace, and changed when the wish is another', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.drain(worker);
    kit.drain(worker);
    expect(kit.eventsOf('drain')).toHaveLength(1);
    kit.drain(worker, { until: 'undrain' });
    expect(kit.eventsOf('drain')).toHaveLength(2);
    expect(kit.cluster.drains.list()).toHaveLength(1);
  });

  it('is refused and changes nothing when it cannot be kept', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.store.failing = true;
    expect(kit.drain(worker)).toEqual({ ok: false, code: 'store_unavailable' });
    expect([worker.adminState, worker.selectable, kit.eventsOf('drain').length]).toEqual(['ready', true, 0]);
    kit.store.failing = false;
    kit.drain(worker);
    kit.store.failing = true;
    expect(kit.cluster.operations.undrain('regular', a, 'ops')).toEqual({ ok: false, code: 'store_unavailable' });
    expect(worker.adminState).toBe('drained');
  });

  it('that a new process ended while the store failed is deleted from it later', () => {
    const kit = new ClusterKit();
    kit.drain(kit.join('regular', a, { instance: '1' }));
    kit.store.failing = true;
    expect(kit.join('regular', a, { instance: '2' }).adminState).toBe('ready');
    expect(kit.store.drains.size).toBe(1);
    kit.store.failing = false;
    kit.advance(250);
    expect(kit.store.drains.size).toBe(0);
  });
});

describe('a drain deadline', () => {
  it('flags what is left and cuts nothing', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.register('regular', a, { source: 'static' });
    kit.reserveSingle();
    kit.drain(worker, { deadlineMs: 5_000 });
    kit.advance(4_750);
    expect(kit.eventsOf('overdue')).toHaveLength(0);
    kit.advance(1_000);
    expect(kit.eventsOf('overdue')).toHaveLength(1);
    expect(kit.cluster.drains.list()[0]?.overdue).toBe(true);
    expect([kit.revocations, worker.load]).toEqual([[], 1]);
  });

  it('aborts what is left when that was asked, on departed workers too', () => {
    const kit = new ClusterKit();
    const old = kit.join('regular', a);
    const grant = kit.reserveSingle();
    kit.advance(11_000);
    const fresh = kit.join('regular', a);
    kit.drain(fresh, { deadlineMs: 1_000, onDeadline: 'abort' });
    kit.revocations.length = 0;
    kit.advance(1_000);
    expect(kit.revocations).toEqual([{ grantId: grant.grantId, workerId: old.id, cause: 'drain_deadline', abortRunning: true }]);
    kit.end(grant.grantId, 'failed', { fault: 'revoked' });
    expect(fresh.adminState).toBe('drained');
  });

  it('says nothing of one that has drained in time', () => {
    const kit = new ClusterKit();
    kit.drain(kit.join('regular', a), { deadlineMs: 1_000, onDeadline: 'abort' });
    kit.advance(5_000);
    expect(kit.eventsOf('overdue')).toHaveLength(0);
  });
});

describe('the last selectable worker', () => {
  const forced = { force: false };

  it('of a role is not drained without force, and with it is', () => {
    const kit = new ClusterKit();
    const prefill = kit.join('prefill', a, {}, { models: ['m'] });
    kit.join('decode', b, {}, { models: ['m'] });
    expect(kit.drain(prefill, forced)).toEqual({ ok: false, code: 'last_selectable_worker', role: 'prefill', model: 'm', group: '*' });
    expect(prefill.selectable).toBe(true);
    expect(kit.drain(prefill).ok).toBe(true);
    // It is draining already: there is nothing left to refuse.
    expect(kit.drain(prefill, forced).ok).toBe(true);
  });

  it('may go while a regular worker still serves the model', () => {
    const kit = new ClusterKit();
    const prefill = kit.join('prefill', a, {}, { models: ['m'] });
    kit.join('decode', b, {}, { models: ['m'] });
    kit.join('regular', c, {}, { models: ['m'] });
    expect(kit.drain(prefill, forced).ok).toBe(true);
  });

  it('is looked for in each model', () => {
    const kit = new ClusterKit();
    const both = kit.join('regular', a, {}, { models: ['m', 'lora'] });
    kit.join('regular', b, {}, { models: ['m'] });
    expect(kit.drain(both, forced)).toMatchObject({ code: 'last_selectable_worker', model: 'lora' });
    kit.join('regular', c, {}, { models: ['lora'] });
    expect(kit.drain(both, forced).ok).toBe(true);
  });

  it('is looked for among workers whose models nobody knows', () => {
    const kit = new ClusterKit();
    const unknown = kit.join('regular', a);
    kit.join('regular', b, {}, { models: ['m'] });
    expect(kit.drain(unknown, forced)).toMatchObject({ code: 'last_selectable_worker', model: null });
    kit.join('regular', c);
    expect(kit.drain(unknown, forced).ok).toBe(true);
  });

  it('is looked for in each pairing group', () => {
    const kit = new ClusterKit();
    const oldPrefill = kit.join('prefill', a, { group: 'old' }, { models: ['m'] });
    kit.join('decode', a, { group: 'old' }, { models: ['m'] });
    kit.join('decode', b, { group: 'new' }, { models: ['m'] });
    expect(kit.drain(oldPrefill, forced)).toMatchObject({ code: 'last_selectable_worker', role: 'prefill', group: 'old' });
    kit.join('prefill', c, { group: 'new' }, { models: ['m'] });
    expect(kit.drain(oldPrefill, forced).ok).toBe(true);
  });

  it('is refused to roles that are drained together, naming one of them', () => {
    const kit = new ClusterKit();
    const prefill = kit.join('prefill', a);
    const decode = kit.join('decode', a);
    kit.join('prefill', b);
    const refused = kit.cluster.operations.drain([prefill, decode], drainWish(forced));
    expect(refused).toMatchObject({ code: 'last_selectable_worker', role: 'decode' });
    expect([prefill.adminState, decode.adminState]).toEqual(['ready', 'ready']);
  });

  it('may go when nothing could be placed anyway', () => {
    const kit = new ClusterKit();
    expect(kit.drain(kit.join('prefill', a), forced).ok).toBe(true);
  });

  it('is not evicted without force either', () => {
    const kit = new ClusterKit();
    expect(kit.evict(kit.join('regular', a), forced)).toMatchObject({ code: 'last_selectable_worker' });
    expect(kit.cluster.quarantine.list()).toEqual([]);
  });
});

describe('a rolling upgrade', () => {
  it('never pairs old with new and never has nowhere to place', () => {
    const kit = new ClusterKit();
    const engines = [
      ['prefill', 'http://10.1.0.1:1'],
      ['decode', 'http://10.1.0.2:1'],
      ['prefill', 'http://10.1.0.3:1'],
      ['decode', 'http://10.1.0.4:1'],
    ] as const;
    const versions = new Map<string, string>();
    for (const [role, endpoint] of engines) {
      versions.set(endpoint, '0.9');
      kit.join(role, endpoint, { instance: '0.9' }, { version: '0.9', models: ['m'] });
    }
    const upgradedInTurn = [engines[0], engines[1], engines[2], engines[3]];
    for (const [role, endpoint] of upgradedInTurn) {
      const running = Array.from({ length: 4 }, () => kit.reservePair({ model: 'm' }));
      expect(kit.drain(kit.worker(role, endpoint), { force: false }).ok).toBe(true);
      for (const { grantId, prefill } of running) {
        kit.prefillDone(grantId);
        const decodeId = kit.beginDecode(grantId);
        const decode = kit.cluster.fleet.byId(decodeId);
        expect(versions.get(decode?.endpoint ?? '')).toBe(versions.get(prefill.endpoint));
        kit.firstByte(grantId, 'decode');
        kit.cluster.scheduler.end(grantId, outcome('succeeded', { phase: 'decode' }));
      }
      expect(kit.worker(role, endpoint).adminState).toBe('drained');
      kit.advance(11_000);
      for (const [otherRole, other] of engines) {
        if (other !== endpoint) kit.join(otherRole, other, { instance: versions.get(other)! }, { version: versions.get(other)!, models: ['m'] });
      }
      versions.set(endpoint, '1.0');
      kit.cluster.register(registration(role, endpoint, { instance: '1.0' }));
      kit.probe(kit.worker(role, endpoint), { version: '1.0', models: ['m'] });
    }
    expect([...kit.cluster.fleet.workers()].map(({ group }) => group)).toEqual(['1.0', '1.0', '1.0', '1.0']);
  });

  it('refuses the step that would leave no placeable pair', () => {
    const kit = new ClusterKit();
    kit.join('prefill', a, {}, { version: '1.0', models: ['m'] });
    const lastOld = kit.join('prefill', b, {}, { version: '0.9', models: ['m'] });
    kit.join('decode', b, {}, { version: '0.9', models: ['m'] });
    expect(kit.drain(lastOld, { force: false })).toMatchObject({ code: 'last_selectable_worker', group: '0.9' });
  });
});
