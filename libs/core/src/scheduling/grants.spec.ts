import { ClusterKit, outcome } from '../testing/cluster-kit.contract-suite.js';
import { type Worker } from '../workers/worker.js';

const a = 'http://10.0.0.1:8000';
const b = 'http://10.0.0.2:8000';
const c = 'http://10.0.0.3:8000';

/** [load, kvOut, bound] of a worker. */
const held = (worker: Worker): number[] => [worker.load, worker.kvOutHolds, worker.boundHolds];

const pairOf = (connector: 'nixl' | 'p2p-nccl') => {
  const kit = new ClusterKit({ connector });
  return { kit, prefill: kit.join('prefill', a), decode: kit.join('decode', b) };
};

describe('sequential prefill and decode', () => {
  it('with late binding charges one worker at a time', () => {
    const { kit, prefill, decode } = pairOf('nixl');
    const { grantId, decode: bound } = kit.reservePair();
    expect(bound).toBeNull();
    expect([held(prefill), held(decode)]).toEqual([[1, 0, 0], [0, 0, 0]]);
    kit.firstByte(grantId, 'prefill');
    kit.prefillDone(grantId);
    expect([held(prefill), held(decode)]).toEqual([[0, 1, 0], [0, 0, 0]]);
    kit.beginDecode(grantId);
    expect([held(prefill), held(decode)]).toEqual([[0, 1, 0], [1, 0, 0]]);
    kit.firstByte(grantId, 'decode');
    expect([held(prefill), held(decode)]).toEqual([[0, 0, 0], [1, 0, 0]]);
    kit.end(grantId, 'succeeded', { phase: 'decode' });
    expect([held(prefill), held(decode)]).toEqual([[0, 0, 0], [0, 0, 0]]);
    expect([prefill.ended.succeeded, decode.ended.succeeded]).toEqual([1, 1]);
  });

  it('with early binding shows the bound worker as pressure, not as load', () => {
    const { kit, prefill, decode } = pairOf('p2p-nccl');
    const { grantId, decode: bound } = kit.reservePair();
    expect(bound?.workerId).toBe(decode.id);
    expect([held(prefill), held(decode), decode.pressure, decode.processed]).toEqual([[1, 0, 0], [0, 0, 1], 1, 0]);
    kit.prefillDone(grantId);
    expect([held(prefill), held(decode)]).toEqual([[0, 1, 0], [0, 0, 1]]);
    expect(kit.beginDecode(grantId)).toBe(decode.id);
    expect([held(prefill), held(decode), decode.pressure, decode.processed]).toEqual([[0, 1, 0], [1, 0, 0], 1, 1]);
    kit.end(grantId, 'succeeded', { phase: 'decode' });
    expect([held(prefill), held(decode)]).toEqual([[0, 0, 0], [0, 0, 0]]);
  });

  it('frees nothing by headers: only a byte of the phase that runs counts', () => {
    const { kit, prefill, decode } = pairOf('nixl');
    const { grantId } = kit.reservePair();
    kit.firstByte(grantId, 'decode');
    kit.prefillDone(grantId);
    kit.firstByte(grantId, 'decode');
    expect(held(prefill)).toEqual([0, 1, 0]);
    kit.beginDecode(grantId);
    kit.firstByte(grantId, 'prefill');
    expect([held(prefill), held(decode)]).toEqual([[0, 1, 0], [1, 0, 0]]);
  });

  it('measures prefill from its placement', () => {
    const { kit } = pairOf('nixl');
    const requestKey = kit.open();
    kit.nowMs += 500;
    const { grantId } = kit.reservePair({ requestKey });
    kit.nowMs += 70;
    kit.prefillDone(grantId);
    kit.beginDecode(grantId);
    kit.nowMs += 30;
    kit.firstByte(grantId, 'decode');
    expect(kit.cluster.scheduler.requests.get(requestKey)).toMatchObject({ queuedMs: 500, prefillMs: 70, firstByteMs: 600 });
  });
});

describe('every path ends in nothing held, counted once', () => {
  const until = ['reserved', 'prefill done', 'decode begun', 'first byte'] as const;

  describe.each(['nixl', 'p2p-nccl'] as const)('over %s', (connector) => {
    it.each(until.flatMap((reached) => (['succeeded', 'failed', 'cancelled'] as const).map((result) => [reached, result] as const)))(
      '%s, then %s',
      (reached, result) => {
        const { kit, prefill, decode } = pairOf(connector);
        const requestKey = kit.open();
        const { grantId } = kit.reservePair({ requestKey });
        const step = until.indexOf(reached);
        if (step >= 1) kit.prefillDone(grantId);
        if (step >= 2) kit.beginDecode(grantId);
        if (step >= 3) kit.firstByte(grantId, 'decode');
        for (let repeat = 0; repeat < 3; repeat += 1) kit.end(grantId, result, { phase: step === 0 ? 'prefill' : 'decode' });
        for (const worker of [prefill, decode]) {
          expect(held(worker)).toEqual([0, 0, 0]);
          const { succeeded, failed, cancelled } = worker.ended;
          expect(succeeded + failed + cancelled).toBe(worker.processed);
        }
        expect([prefill.processed, decode.processed]).toEqual([1, step >= 2 ? 1 : 0]);
        expect((step >= 2 ? decode : prefill).ended[step === 1 ? 'succeeded' : result]).toBe(1);
        expect(kit.outcomes).toHaveLength(1);
        kit.close(requestKey);
        kit.cluster.scheduler.sweepLedger();
        expect(kit.leaks).toEqual([]);
      },
    );
  });

  it('and steps after the end do nothing', () => {
    const { kit, prefill, decode } = pairOf('nixl');
    const { grantId } = kit.reservePair();
    kit.end(grantId, 'cancelled', { phase: 'prefill' });
    kit.prefillDone(grantId);
    kit.firstByte(grantId, 'decode');
    expect(kit.cluster.scheduler.beginDecode(grantId, [])).toMatchObject({ kind: 'stale' });
    expect([held(prefill), held(decode)]).toEqual([[0, 0, 0], [0, 0, 0]]);
    expect([prefill.processed, decode.processed]).toEqual([1, 0]);
  });
});

describe('the ledger sweep', () => {
  it('releases what belongs to no open request, and says so', () => {
    const { kit, prefill } = pairOf('nixl');
    const open = kit.reservePair({ requestKey: kit.open() });
    const requestKey = kit.open();
    const leaked = kit.reservePair({ requestKey });
    kit.close(requestKey);
    expect(prefill.load).toBe(2);
    kit.cluster.scheduler.sweepLedger();
    expect([prefill.load, prefill.ended.cancelled, kit.leaks]).toEqual([1, 1, [leaked.grantId]]);
    kit.end(leaked.grantId, 'succeeded', { phase: 'prefill' });
    expect([prefill.load, prefill.ended.succeeded]).toEqual([1, 0]);
    kit.end(open.grantId, 'succeeded', { phase: 'prefill' });
    kit.cluster.scheduler.sweepLedger();
    expect(kit.leaks).toHaveLength(1);
  });

  it('ends the hold of a hand-off that grew too old unsent, and lets it be sent no more', () => {
    const { kit, prefill } = pairOf('nixl');
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    kit.nowMs += kit.handoffMaxAgeMs;
    kit.cluster.scheduler.sweepLedger();
    expect(held(prefill)).toEqual([0, 1, 0]);
    kit.nowMs += 1;
    kit.drain(prefill);
    kit.cluster.scheduler.sweepLedger();
    expect([held(prefill), prefill.adminState]).toEqual([[0, 0, 0], 'drained']);
    expect(kit.cluster.scheduler.beginDecode(grantId, [])).toEqual({ kind: 'stale', cause: 'handoff_expired' });
  });

  it('leaves the hold of one that was sent, whatever its age', () => {
    const { kit, prefill } = pairOf('nixl');
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    kit.beginDecode(grantId);
    kit.nowMs += 10 * kit.handoffMaxAgeMs;
    kit.cluster.scheduler.sweepLedger();
    expect(held(prefill)).toEqual([0, 1, 0]);
    kit.end(grantId, 'failed', { phase: 'decode', fault: 'first_byte_timeout' });
    expect(held(prefill)).toEqual([0, 0, 0]);
  });
});

describe('a hand-off', () => {
  it('is not sent when it is too old', () => {
    const { kit } = pairOf('nixl');
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    kit.nowMs += kit.handoffMaxAgeMs + 1;
    expect(kit.cluster.scheduler.beginDecode(grantId, [])).toEqual({ kind: 'stale', cause: 'handoff_expired' });
  });

  it('is not sent when its prefill worker has expired, though nobody has looked since', () => {
    const { kit } = pairOf('nixl');
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    for (let step = 0; step < 20; step += 1) kit.cluster.listeningClock.tick((kit.nowMs += 500));
    kit.register('decode', b);
    expect(kit.cluster.scheduler.beginDecode(grantId, [])).toEqual({ kind: 'stale', cause: 'prefill_departed' });
  });

  it('is sent at most once', () => {
    const { kit, decode } = pairOf('nixl');
    kit.join('decode', c);
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    kit.beginDecode(grantId);
    expect(kit.cluster.scheduler.beginDecode(grantId, [decode.id]).kind).toBe('stale');
    const leases = [...kit.cluster.fleet.workers()].reduce((sum, { load }) => sum + load, 0);
    expect(leases).toBe(1);
  });

  it.each(['connect_refused', 'connect_timeout'] as const)('goes to another decode worker after %s, which the first one counts', (fault) => {
    const { kit, prefill, decode } = pairOf('nixl');
    const other = kit.join('decode', c);
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    const first = kit.beginDecode(grantId);
    const [failed, spare] = first === decode.id ? [decode, other] : [other, decode];
    const again = kit.cluster.scheduler.beginDecode(grantId, [first], outcome('failed', { phase: 'decode', fault }));
    expect(again).toMatchObject({ kind: 'decode', decode: { workerId: spare.id } });
    expect([held(failed), held(spare), held(prefill)]).toEqual([[0, 0, 0], [1, 0, 0], [0, 1, 0]]);
    expect(failed.ended.failed).toBe(1);
    expect(failed.selectable).toBe(fault === 'connect_timeout');
    kit.end(grantId, 'succeeded', { phase: 'decode' });
    expect([failed.ended, spare.ended]).toEqual([
      { succeeded: 0, failed: 1, cancelled: 0 },
      { succeeded: 1, failed: 0, cancelled: 0 },
    ]);
  });

  it.each([
    ['reset', null],
    ['first_byte_timeout', null],
    ['invalid_response', 200],
    [null, 503],
    // Nothing was written, but its worker is gone: whoever owns it begins again.
    ['revoked', null],
  ] as const)('is not sent again when decode ended with %s / %s', (fault, status) => {
    const { kit } = pairOf('nixl');
    kit.join('decode', c);
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    const first = kit.beginDecode(grantId);
    const failure = outcome('failed', { phase: 'decode', fault, status });
    expect(kit.cluster.scheduler.beginDecode(grantId, [first], failure).kind).toBe('stale');
    kit.cluster.scheduler.end(grantId, failure);
    expect(kit.cluster.fleet.byId(first)?.ended.failed).toBe(1);
    expect(kit.outcomes).toHaveLength(1);
  });

  it('that was bound early goes to nobody else', () => {
    const { kit, decode } = pairOf('p2p-nccl');
    kit.join('decode', c);
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    const first = kit.beginDecode(grantId);
    const again = kit.cluster.scheduler.beginDecode(grantId, [first], outcome('failed', { phase: 'decode', fault: 'connect_refused' }));
    expect(again).toEqual({ kind: 'stale', cause: 'decode_departed' });
    expect(kit.cluster.scheduler.beginDecode(grantId, [])).toEqual({ kind: 'stale', cause: 'decode_departed' });
    kit.end(grantId, 'cancelled', { phase: 'decode' });
    expect(held(decode)).toEqual([0, 0, 0]);
  });
});

describe('the past', () => {
  it('ends its streams on the old worker and never touches the new one', () => {
    const { kit, prefill, decode } = pairOf('nixl');
    const streaming = kit.reservePair();
    kit.prefillDone(streaming.grantId);
    kit.beginDecode(streaming.grantId);
    kit.firstByte(streaming.grantId, 'decode');
    const prefilling = kit.reservePair();
    for (const [role, endpoint] of [['prefill', a], ['decode', b]] as const) {
      kit.register(role, endpoint, { instance: '1' });
      kit.join(role, endpoint, { instance: '2' });
    }
    const fresh = [kit.worker('prefill', a), kit.worker('decode', b)];
    expect([...kit.cluster.fleet.departedWorkers]).toEqual([prefill, decode]);
    kit.prefillDone(prefilling.grantId);
    expect(held(prefill)).toEqual([0, 1, 0]);
    kit.end(prefilling.grantId, 'cancelled', { phase: 'decode' });
    kit.end(streaming.grantId, 'succeeded', { phase: 'decode' });
    expect([held(prefill), held(decode), decode.ended.succeeded]).toEqual([[0, 0, 0], [0, 0, 0], 1]);
    for (const worker of fresh) expect([held(worker), worker.processed, worker.turn]).toEqual([[0, 0, 0], 0, expect.any(Number)]);
    expect([...kit.cluster.fleet.departedWorkers]).toEqual([]);
  });

  it('of an endpoint is kept with its counts, and bounded', () => {
    const kit = new ClusterKit();
    for (let instance = 0; instance < 30; instance += 1) {
      kit.join('regular', a, { instance: `${instance}` });
      kit.end(kit.reserveSingle().grantId, 'succeeded');
    }
    const past = kit.cluster.fleet.history.of('regular|http://10.0.0.1:8000');
    expect(past).toHaveLength(20);
    expect(past.every(({ worker, reason }) => worker.processed === 1 && worker.idle && reason === 'replaced')).toBe(true);
    expect(past.map(({ generation }) => generation)).toEqual([...past.map(({ generation }) => generation)].sort((x, y) => x - y));
  });
});
