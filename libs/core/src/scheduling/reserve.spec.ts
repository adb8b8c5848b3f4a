import { affinityOf, ClusterKit, prefixKey } from '../testing/cluster-kit.contract-suite.js';
import { type Role } from '../words.js';

const a = 'http://10.0.0.1:8000';
const b = 'http://10.0.0.2:8000';
const c = 'http://10.0.0.3:8000';

describe('which workers', () => {
  it.each([
    [['prefill', 'decode', 'regular'], 'pair'],
    [['prefill', 'regular'], 'single'],
    [['decode', 'regular'], 'single'],
    [['prefill', 'decode'], 'pair'],
    [['prefill'], 'unavailable'],
    [['decode'], 'unavailable'],
    [[], 'unavailable'],
  ] as const)('a generation over %j gets: %s', (roles: readonly Role[], kind) => {
    const kit = new ClusterKit();
    for (const role of roles) kit.join(role, a);
    expect(kit.reserve().kind).toBe(kind);
  });

  it.each([
    [['prefill', 'decode', 'regular'], 'regular'],
    [['prefill', 'decode'], 'decode'],
    [['prefill'], 'prefill'],
  ] as const)('a single-worker request over %j goes to %s', (roles: readonly Role[], role) => {
    const kit = new ClusterKit();
    for (const joined of roles) kit.join(joined, a);
    const { worker, grantId } = kit.reserveSingle();
    expect(worker.role).toBe(role);
    expect([...kit.worker(role, a).leases].map(({ phase }) => phase)).toEqual(['single']);
    kit.end(grantId, 'succeeded');
    expect(kit.worker(role, a).load).toBe(0);
  });

  it('are those of one group, when several exist', () => {
    const kit = new ClusterKit({ connector: 'p2p-nccl' });
    kit.join('prefill', a, { group: 'x' });
    kit.join('decode', b, { group: 'y' });
    expect(kit.reserve().kind).toBe('unavailable');
    const partner = kit.join('decode', c, { group: 'x' });
    for (let request = 0; request < 5; request += 1) expect(kit.reservePair().decode?.workerId).toBe(partner.id);
  });

  it('are regular ones when no group has both roles', () => {
    const kit = new ClusterKit();
    kit.join('prefill', a, { group: 'x' });
    kit.join('decode', b, { group: 'y' });
    const regular = kit.join('regular', c);
    const result = kit.reserve();
    expect(result.kind === 'single' && result.worker.workerId).toBe(regular.id);
  });

  it('serve the model in both roles', () => {
    const kit = new ClusterKit();
    kit.join('prefill', a, {}, { models: ['m'] });
    kit.join('decode', b, {}, { models: ['n'] });
    expect(kit.reserve({ model: 'm' })).toMatchObject({ kind: 'unavailable', cause: 'no_available_workers' });
    const decode = kit.join('decode', c, {}, { models: ['m', 'n'] });
    const { grantId } = kit.reservePair({ model: 'm' });
    kit.prefillDone(grantId);
    expect(kit.beginDecode(grantId)).toBe(decode.id);
  });

  it('are not those that failed this request already', () => {
    const kit = new ClusterKit();
    const first = kit.join('regular', a);
    const second = kit.join('regular', b);
    expect(kit.reserveSingle({ exclude: [first.id] }).worker.workerId).toBe(second.id);
    expect(kit.reserve({ shape: 'single', exclude: [first.id, second.id] })).toMatchObject({ kind: 'unavailable', waitable: false });
  });

  describe('after decode failed on a hand-off', () => {
    const setUp = (connector: 'nixl' | 'p2p-nccl' = 'nixl') => {
      const kit = new ClusterKit({ connector });
      const [first, second, decode] = [kit.join('prefill', a), kit.join('prefill', b), kit.join('decode', a)];
      return { kit, first, second, decode, failedPairs: [{ prefill: first.id, decode: decode.id }] };
    };

    it.each(['nixl', 'p2p-nccl'] as const)('are the same decode worker with another prefill worker, when it is the only one (%s)', (connector) => {
      const { kit, first, second, decode, failedPairs } = setUp(connector);
      for (let repeat = 0; repeat < 3; repeat += 1) {
        const requestKey = kit.open();
        const { grantId, prefill } = kit.reservePair({ requestKey, failedPairs });
        expect(prefill.workerId).toBe(second.id);
        kit.prefillDone(grantId);
        expect(kit.beginDecode(grantId)).toBe(decode.id);
        const [attempt] = kit.cluster.scheduler.requests.get(requestKey)?.attempts ?? [];
        expect(attempt?.candidates.map(({ id, excluded }) => [id, excluded])).toEqual([[first.id, 'failed_pair'], [second.id, undefined]]);
      }
    });

    it('are other decode workers, as long as there are any', () => {
      const { kit, decode, failedPairs } = setUp();
      const other = kit.join('decode', b);
      for (let repeat = 0; repeat < 4; repeat += 1) {
        const requestKey = kit.open();
        const { grantId } = kit.reservePair({ requestKey, failedPairs });
        kit.prefillDone(grantId);
        expect(kit.beginDecode(grantId)).toBe(other.id);
        const attempt = kit.cluster.scheduler.requests.get(requestKey)?.attempts.at(-1);
        expect(attempt?.candidates.map(({ id, excluded }) => [id, excluded])).toEqual([[decode.id, 'failed_pair'], [other.id, undefined]]);
      }
    });

    it('are regular workers rather than a decode worker that may be at fault', () => {
      const { kit, failedPairs } = setUp();
      kit.join('regular', c);
      expect(kit.reserve({ failedPairs }).kind).toBe('single');
    });

    it('are none when every pair has failed, or the decode worker has failed by itself', () => {
      const { kit, second, decode, failedPairs } = setUp();
      const all = [...failedPairs, { prefill: second.id, decode: decode.id }];
      expect(kit.reserve({ failedPairs: all })).toMatchObject({ kind: 'unavailable', waitable: false });
      expect(kit.reserve({ failedPairs, exclude: [decode.id] })).toMatchObject({ kind: 'unavailable', waitable: false });
      expect(kit.reserve({ failedPairs, exclude: [second.id] })).toMatchObject({ kind: 'unavailable', waitable: false });
    });

    it('are not the failed pair again when the others left in between', () => {
      const { kit, second, decode, failedPairs } = setUp();
      const other = kit.join('decode', b);
      kit.drain(second);
      const { grantId } = kit.reservePair({ failedPairs });
      kit.prefillDone(grantId);
      kit.drain(other);
      expect(kit.cluster.scheduler.beginDecode(grantId, [])).toMatchObject({ kind: 'unavailable', waitable: false });
      expect(decode.processed).toBe(0);
    });

    it('are worth waiting for while the decode worker is asked whether it restarted', () => {
      const { kit, second, decode, failedPairs } = setUp();
      kit.probe(decode, { refused: true, healthy: false });
      expect(kit.reserve({ failedPairs })).toMatchObject({ kind: 'unavailable', waitable: true });
      expect(kit.reserve({ failedPairs, exclude: [second.id] })).toMatchObject({ waitable: false });
    });
  });

  it.each([
    ['gated', (kit: ClusterKit) => kit.register('regular', a)],
    ['unhealthy', (kit: ClusterKit) => [1, 2, 3].forEach(() => kit.probe(kit.worker('regular', a), { healthy: false }))],
    ['restart_check', (kit: ClusterKit) => kit.end(kit.reserveSingle().grantId, 'failed', { fault: 'reset' })],
    ['drained', (kit: ClusterKit) => kit.drain(kit.worker('regular', a))],
    ['draining', (kit: ClusterKit) => [kit.reserveSingle(), kit.drain(kit.worker('regular', a))]],
  ] as const)('are none that is %s', (reason, bring) => {
    const kit = new ClusterKit();
    if (reason !== 'gated') kit.join('regular', a);
    bring(kit);
    expect(kit.worker('regular', a).unselectableBecause).toEqual([reason]);
    expect(kit.reserve({ shape: 'single' }).kind).toBe('unavailable');
    const spare = kit.join('regular', b);
    const requestKey = kit.open();
    kit.reserveSingle({ requestKey });
    const [attempt] = kit.cluster.scheduler.requests.get(requestKey)?.attempts ?? [];
    expect(attempt?.candidates.map(({ id, excluded }) => [id, excluded])).toEqual([
      [kit.worker('regular', a).id, reason],
      [spare.id, undefined],
    ]);
  });

  it('are none whose connector this router cannot drive', () => {
    const kit = new ClusterKit({ connector: 'auto' });
    const worker = kit.join('prefill', a, { connector: { kind: 'moriio', evidence: 'label' }, transferMode: 'WRITE' });
    expect(worker.unselectableBecause).toEqual(['connector_unsupported']);
    expect(kit.reserve({ shape: 'single' }).kind).toBe('unavailable');
  });

  it('are none that expired, though nobody has looked since', () => {
    const kit = new ClusterKit();
    kit.join('regular', a);
    for (let step = 0; step < 20; step += 1) kit.cluster.listeningClock.tick((kit.nowMs += 500));
    expect(kit.reserve({ shape: 'single' }).kind).toBe('unavailable');
    expect(kit.find('regular', a)).toBeUndefined();
  });
});

describe('model_not_found', () => {
  const cause = (kit: ClusterKit, model: string | null): string => {
    const result = kit.reserve({ model });
    return result.kind === 'unavailable' ? result.cause : result.kind;
  };

  it('needs a worker', () => {
    expect(cause(new ClusterKit(), 'm')).toBe('no_available_workers');
  });

  it('needs every worker of every role to know its models, and none to match', () => {
    const kit = new ClusterKit();
    kit.join('prefill', a, {}, { models: ['m'] });
    expect(cause(kit, 'x')).toBe('model_not_found');
    const gated = kit.register('decode', b);
    expect(cause(kit, 'x')).toBe('no_available_workers');
    kit.probe(gated!, { healthy: false, models: ['m'] });
    expect(gated?.selectable).toBe(false);
    expect(cause(kit, 'x')).toBe('model_not_found');
  });

  it('is not said of a match that is merely not selectable', () => {
    const kit = new ClusterKit();
    kit.drain(kit.join('regular', a, {}, { models: ['m'] }));
    expect(cause(kit, 'm')).toBe('no_available_workers');
  });

  it('is not said of a request without a model', () => {
    const kit = new ClusterKit();
    kit.drain(kit.join('regular', a, {}, { models: ['m'] }));
    expect(cause(kit, null)).toBe('no_available_workers');
  });

  it('is not said while models are unknown, as after an empty list', () => {
    const kit = new ClusterKit();
    kit.join('regular', a, {}, { models: [] });
    expect(cause(kit, 'anything')).toBe('single');
  });
});

describe('a refusal', () => {
  it.each([
    ['prefill', 'decode'],
    ['decode', 'prefill'],
  ] as const)('for want of %s leaves no trace and names the counts', (missing, there) => {
    const kit = new ClusterKit({ policy: 'cache_aware', connector: 'p2p-nccl' });
    const worker = kit.join(there, a, {}, { models: ['m'] });
    kit.drain(kit.join(missing, b, {}, { models: ['m'] }));
    const requestKey = kit.open('m');
    const before = [worker.turn, worker.processed, worker.load, worker.pressure];
    const covered = () => JSON.stringify([...kit.cluster.fleet.workers()].map((each) => affinityOf(kit.cluster.fleet.pools[each.role].policy).cacheStats()));
    const coveredBefore = covered();
    for (let repeat = 0; repeat < 5; repeat += 1) {
      expect(kit.reserve({ requestKey, model: 'm', prefixKey: prefixKey(repeat) })).toEqual({
        kind: 'unavailable',
        cause: 'no_available_workers',
        waitable: false,
        counts: { prefill: { selectable: 0, total: 0 }, decode: { selectable: 0, total: 0 }, regular: { selectable: 0, total: 0 }, group: '*', [there]: { selectable: 1, total: 1 }, [missing]: { selectable: 0, total: 1 } },
      });
    }
    expect([worker.turn, worker.processed, worker.load, worker.pressure]).toEqual(before);
    expect(covered()).toBe(coveredBefore);
    const record = kit.cluster.scheduler.requests.get(requestKey);
    expect([record?.attempts, record?.queuedMs, record?.prefillId, record?.decodeId]).toEqual([[], null, null, null]);
    kit.close(requestKey);
    kit.cluster.scheduler.sweepLedger();
    expect(kit.leaks).toEqual([]);
  });

  it('is worth waiting for when only probes are missing', () => {
    const kit = new ClusterKit();
    kit.join('prefill', a);
    expect(kit.reserve()).toMatchObject({ waitable: false });
    const gated = kit.register('decode', b);
    expect(kit.reserve()).toMatchObject({ waitable: true });
    expect(kit.reserve({ exclude: [gated!.id] })).toMatchObject({ waitable: false });
    let woken = 0;
    kit.cluster.fleet.onSelectable(() => (woken += 1));
    kit.probe(gated!);
    expect(woken).toBe(1);
    kit.probe(gated!);
    expect(woken).toBe(1);
    expect(kit.reserve().kind).toBe('pair');
  });

  it('is not worth waiting for when what is gated serves another model, group, or is drained', () => {
    const kit = new ClusterKit();
    kit.join('prefill', a, { group: 'x' }, { models: ['m'] });
    kit.register('decode', b, { group: 'y' });
    expect(kit.reserve({ model: 'm' })).toMatchObject({ waitable: false });
    kit.register('decode', c, { group: 'x', models: ['n'] });
    expect(kit.reserve({ model: 'm' })).toMatchObject({ waitable: false });
    const drained = kit.register('decode', 'http://10.0.0.4:1', { group: 'x' });
    kit.drain(drained!);
    expect(kit.reserve({ model: 'm' })).toMatchObject({ waitable: false });
  });

  it('of decode after prefill is worth waiting for when a partner is gated', () => {
    const kit = new ClusterKit();
    kit.join('prefill', a);
    const decode = kit.join('decode', b);
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    const { scheduler } = kit.cluster;
    expect(scheduler.beginDecode(grantId, [decode.id])).toMatchObject({ kind: 'unavailable', waitable: false });
    const late = kit.register('decode', c);
    expect(scheduler.beginDecode(grantId, [decode.id])).toMatchObject({ kind: 'unavailable', waitable: true });
    kit.probe(late!);
    expect(kit.beginDecode(grantId, [decode.id])).toBe(late?.id);
  });
});

describe('reserve', () => {
  it('throws for a request that is not open', () => {
    const kit = new ClusterKit();
    kit.join('regular', a);
    expect(() => kit.reserve({ requestKey: 99 })).toThrow('not open');
    const requestKey = kit.open();
    kit.close(requestKey);
    expect(() => kit.reserve({ requestKey })).toThrow('not open');
    expect(kit.worker('regular', a).load).toBe(0);
  });

  it('places the first real request by an index that exists', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    kit.join('prefill', a, {}, { models: ['m'] });
    kit.join('decode', b, { models: ['m'] });
    for (const role of ['prefill', 'decode'] as const) {
      expect(affinityOf(kit.cluster.fleet.pools[role].policy).cacheStats()).toMatchObject([{ model: 'm', hits: 0, misses: 0 }]);
    }
  });

  it('goes by the policy that is in charge now', () => {
    const kit = new ClusterKit({ policy: 'least_load' });
    kit.join('regular', a, {}, { models: ['m'] });
    kit.join('regular', b, {}, { models: ['m'] });
    expect(kit.reserveSingle().worker.reason).toBe('least_load');
    const next = kit.policy('cache_aware');
    kit.cluster.fleet.pools.regular.setPolicy(next);
    expect(affinityOf(next).cacheStats()).toMatchObject([{ model: 'm', workers: [{}, {}] }]);
    const first = kit.reserveSingle({ model: 'm', prefixKey: prefixKey(1) });
    const second = kit.reserveSingle({ model: 'm', prefixKey: prefixKey(1) });
    expect([first.worker.reason, second.worker.reason]).toEqual(['no_match', 'affinity']);
  });
});

describe('a receipt', () => {
  it('shows each candidate as it was before the choice, and stays so', () => {
    const kit = new ClusterKit({ policy: 'cache_aware' });
    const first = kit.join('regular', a);
    const second = kit.join('regular', b);
    const processed: number[] = [];
    for (let request = 0; request < 6; request += 1) {
      const requestKey = kit.open();
      const { worker, grantId } = kit.reserveSingle({ requestKey, prefixKey: prefixKey(1, 4) });
      const [attempt] = kit.cluster.scheduler.requests.get(requestKey)?.attempts ?? [];
      const view = attempt?.candidates.find(({ id }) => id === worker.workerId);
      processed.push(view?.processed ?? -1);
      expect(view).toMatchObject({ load: 0, pressure: 0, turn: request, matchBytes: request === 0 ? 0 : 256 });
      kit.firstByte(grantId, 'single');
      kit.end(grantId, 'succeeded');
      expect(attempt).toMatchObject({ chosen: worker.workerId, phase: 'single', reason: request === 0 ? 'no_match' : 'affinity', outcome: 'ok' });
      expect(attempt?.candidates.find(({ id }) => id === worker.workerId)).toEqual(view);
    }
    expect(processed).toEqual([0, 1, 2, 3, 4, 5]);
    expect(first.processed + second.processed).toBe(6);
  });

  it('gives the reason of now, also when only that has changed', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    kit.join('regular', b);
    const running = kit.reserveSingle({ exclude: [kit.worker('regular', b).id] });
    kit.drain(worker);
    const whyOf = (): unknown => {
      const requestKey = kit.open();
      kit.reserveSingle({ requestKey });
      return kit.cluster.scheduler.requests.get(requestKey)?.attempts[0]?.candidates[0]?.excluded;
    };
    expect(whyOf()).toBe('draining');
    kit.end(running.grantId, 'succeeded');
    expect(whyOf()).toBe('drained');
  });

  it('says of each worker that was left out why, also after it changed', () => {
    const kit = new ClusterKit();
    const wrong = kit.join('decode', a, { group: 'y' }, { models: ['m'] });
    const other = kit.join('decode', b, { group: 'x' }, { models: ['n'] });
    const failed = kit.join('decode', c, { group: 'x' }, { models: ['m'] });
    const chosen = kit.join('decode', 'http://10.0.0.4:1', { group: 'x' }, { models: ['m'] });
    kit.join('prefill', a, { group: 'x' }, { models: ['m'] });
    const requestKey = kit.open('m');
    const { grantId } = kit.reservePair({ requestKey, model: 'm' });
    kit.prefillDone(grantId);
    expect(kit.beginDecode(grantId, [failed.id])).toBe(chosen.id);
    kit.drain(wrong);
    const excluded = kit.cluster.scheduler.requests.get(requestKey)?.attempts[1]?.candidates.map(({ id, excluded: why }) => [id, why]);
    expect(excluded).toEqual([
      [wrong.id, 'incompatible_group'],
      [other.id, 'wrong_model'],
      [failed.id, 'already_failed'],
      [chosen.id, undefined],
    ]);
  });
});
