import fc from 'fast-check';

import { type LiveChange, type LiveDelta, type LiveSnapshot, type LiveState } from '../contracts/live.schema.js';
import { TrafficHistory } from '../scheduling/traffic-history.js';
import { ClusterKit, registration } from '../testing/cluster-kit.contract-suite.js';
import { type Role } from '../words.js';
import { LiveBoard } from './live-board.js';
import { workersView } from './worker.view.js';
import { handoffViews } from './handoff.view.js';

const endpoints = ['http://10.0.0.1:8000', 'http://10.0.0.2:8000', 'http://10.0.0.3:8000'];

function setUp(): { kit: ClusterKit; board: LiveBoard } {
  const kit = new ClusterKit({ health: { gate: false } });
  const clock = { monotonicMs: () => kit.nowMs, wallMs: () => kit.nowMs };
  return { kit, board: new LiveBoard(kit.cluster, new TrafficHistory(clock)) };
}

function applied({ state }: LiveSnapshot, { seq, changes }: LiveDelta): LiveSnapshot {
  const workers = new Map(state.workers.map((worker) => [worker.id, worker]));
  let next = state;
  const apply = (change: LiveChange): void => {
    if (change.op === 'set') workers.set(change.worker.id, change.worker);
    else if (change.op === 'del') workers.delete(change.id);
    else next = { ...next, ...change };
  };
  changes.forEach(apply);
  const { pools, overview, handoffs } = next;
  return { seq, state: { pools, overview, handoffs, workers: [...workers.values()] } };
}

/** A state without what only the passing of time changes, in one order. */
function timeless({ workers, pools, handoffs }: Pick<LiveState, 'workers' | 'pools' | 'handoffs'>): unknown {
  return {
    workers: Object.fromEntries(workers.map((worker) => [worker.id, { ...worker, heartbeatAgeMs: null, expiresInMs: null }])),
    pools,
    handoffs: handoffs.map((handoff) => ({ ...handoff, ageMs: 0 })),
  };
}

type Step =
  | { readonly do: 'ping' | 'withdraw' | 'drain' | 'undrain' | 'evict'; readonly at: number; readonly role: Role }
  | { readonly do: 'begin' }
  | { readonly do: 'go on'; readonly at: number; readonly how: 'on' | 'cancelled' | 'failed' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'look'; readonly viewer: number };

const at = fc.nat({ max: 2 });
const role = fc.constantFrom<Role>('prefill', 'decode', 'regular');
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('ping', 'ping', 'ping', 'withdraw', 'drain', 'undrain', 'evict'), at, role }) },
  { weight: 4, arbitrary: fc.constant({ do: 'begin' }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('go on'), at: fc.nat({ max: 20 }), how: fc.constantFrom('on', 'on', 'on', 'cancelled', 'failed') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(100, 250, 1_000, 6_000, 40_000) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('look'), viewer: fc.nat({ max: 2 }) }) },
);

describe('the live board', () => {
  it('leads every viewer, however late it looks, to the picture that a fresh snapshot shows', () => {
    fc.assert(
      fc.property(fc.array(stepArbitrary, { minLength: 1, maxLength: 120 }), (steps) => {
        const { kit, board } = setUp();
        for (const endpoint of endpoints) kit.join('prefill', endpoint);
        for (const endpoint of endpoints) kit.join('decode', endpoint);
        board.refresh();
        const viewers = [board.snapshot(), board.snapshot(), board.snapshot()];
        const grants: { readonly id: number; stage: number }[] = [];
        for (const step of steps) {
          switch (step.do) {
            case 'ping':
              kit.cluster.register(registration(step.role, endpoints[step.at]!));
              break;
            case 'withdraw':
              kit.cluster.withdraw(step.role, endpoints[step.at]!, 'zmq');
              break;
            case 'undrain':
              kit.cluster.operations.undrain(step.role, endpoints[step.at]!, 'ops');
              break;
            case 'drain':
            case 'evict': {
              const worker = kit.find(step.role, endpoints[step.at]!);
              if (worker !== undefined) kit[step.do](worker);
              break;
            }
            case 'begin': {
              const placed = kit.reserve();
              if (placed.kind === 'pair') grants.push({ id: placed.grantId, stage: 0 });
              break;
            }
            case 'go on': {
              const grant = grants[step.at % Math.max(1, grants.length)];
              if (grant === undefined) break;
              if (step.how !== 'on') kit.end(grant.id, step.how);
              else if (grant.stage === 0) kit.prefillDone(grant.id);
              else if (grant.stage === 1) kit.cluster.scheduler.beginDecode(grant.id, []);
              else if (grant.stage === 2) kit.firstByte(grant.id, 'decode');
              else kit.end(grant.id, 'succeeded');
              grant.stage += 1;
              break;
            }
            case 'wait':
              kit.advance(step.ms);
              kit.cluster.scheduler.sweepLedger();
              break;
            case 'look': {
              const viewer = viewers[step.viewer]!;
              board.refresh();
              const delta = board.delta(viewer.seq);
              expect(delta.from).toBe(viewer.seq);
              expect(delta.seq).toBe(board.seq);
              expect(delta.changes.length > 0).toBe(delta.seq > delta.from);
              viewers[step.viewer] = applied(viewer, delta);
              board.forget(Math.min(...viewers.map(({ seq }) => seq)));
              expect(timeless(viewers[step.viewer]!.state)).toEqual(timeless(board.snapshot().state));
              expect(timeless(viewers[step.viewer]!.state)).toEqual(timeless({ ...workersView(kit.cluster), handoffs: handoffViews(kit.cluster) }));
              break;
            }
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('costs nothing and says nothing while nothing changes, but for one sign of life a second', () => {
    const { kit, board } = setUp();
    kit.join('regular', endpoints[0]!, { source: 'static', ttlMs: null });
    // The first tick finds out that it does not ping.
    kit.advance(250);
    expect(board.refresh()).toBe(true);
    const { seq } = board;
    for (let tick = 0; tick < 3; tick += 1) {
      kit.advance(250);
      expect(board.refresh()).toBe(false);
    }
    expect(kit.cluster.seq).toBe(seq);
    kit.advance(250);
    expect(board.refresh()).toBe(true);
    expect(board.delta(seq).changes.map(({ op }) => op)).toEqual(['overview']);
    expect(board.seq).toBe(seq + 1);
  });

  it('tells that an engine was read again, though it said the same', () => {
    const { kit, board } = setUp();
    const worker = kit.join('regular', endpoints[0]!, { source: 'static', ttlMs: null });
    const read = (): void => kit.cluster.engineReported(worker.id, { running: 1, waiting: 0, kvUsage: 0.5 });
    read();
    kit.advance(500);
    board.refresh();
    const { seq } = board;
    kit.advance(250);
    expect(board.refresh()).toBe(false);
    expect(board.snapshot().state.workers[0]!.engine!.ageMs).toBe(750);
    read();
    expect(board.refresh()).toBe(true);
    expect(board.delta(seq).changes).toMatchObject([{ op: 'set', worker: { engine: { running: 1, ageMs: 0 } } }]);
  });

  it('tells that a source took its statement back while another still holds the worker', () => {
    const { kit, board } = setUp();
    const { id } = kit.join('regular', endpoints[0]!, { source: 'static' });
    kit.register('regular', endpoints[0]!, { source: 'file' });
    board.refresh();
    const { seq } = board;
    kit.cluster.withdraw('regular', endpoints[0]!, 'file');
    expect(board.refresh()).toBe(true);
    expect(board.delta(seq).changes).toMatchObject([{ op: 'set', worker: { id, sources: ['static'] } }]);
  });

  it('shows ages of now in a snapshot', () => {
    const { kit, board } = setUp();
    kit.join('regular', endpoints[0]!);
    board.refresh();
    kit.advance(500);
    const [worker] = board.snapshot().state.workers;
    expect(worker).toMatchObject({ heartbeatAgeMs: 500, expiresInMs: 9_500 });
  });

  it('cannot show a picture that was never made', () => {
    expect(() => setUp().board.snapshot()).toThrow('before the first refresh');
  });
});

describe('hand-offs', () => {
  it('are shown from the end of prefill to the first decode byte', () => {
    const { kit } = setUp();
    const prefill = kit.join('prefill', endpoints[0]!);
    const decode = kit.join('decode', endpoints[1]!);
    const { grantId } = kit.reservePair();
    expect(handoffViews(kit.cluster)).toEqual([]);
    kit.prefillDone(grantId);
    kit.nowMs += 40;
    expect(handoffViews(kit.cluster)).toEqual([
      { requestId: 'req-1', prefillId: prefill.id, decodeId: null, stage: 'waiting', ageMs: 40, maxAgeMs: kit.handoffMaxAgeMs },
    ]);
    kit.beginDecode(grantId);
    expect(handoffViews(kit.cluster)).toMatchObject([{ decodeId: decode.id, stage: 'sent' }]);
    kit.firstByte(grantId, 'decode');
    expect(handoffViews(kit.cluster)).toEqual([]);
    kit.end(grantId, 'cancelled');
    expect(handoffViews(kit.cluster)).toEqual([]);
  });

  it('stay as stranded KV where their client left, until the engine lets go of it', () => {
    const { kit } = setUp();
    const prefill = kit.join('prefill', endpoints[0]!, { source: 'static', ttlMs: null });
    kit.join('decode', endpoints[1]!, { source: 'static', ttlMs: null });
    const { grantId } = kit.reservePair();
    kit.prefillDone(grantId);
    kit.nowMs += 40;
    kit.end(grantId, 'cancelled');
    kit.advance(29_000);
    kit.cluster.scheduler.sweepLedger();
    expect(handoffViews(kit.cluster)).toEqual([
      { requestId: 'req-1', prefillId: prefill.id, decodeId: null, stage: 'stranded', ageMs: 29_000, maxAgeMs: 30_000 },
    ]);
    const { seq } = kit.cluster;
    kit.advance(1_000);
    kit.cluster.scheduler.sweepLedger();
    expect(handoffViews(kit.cluster)).toEqual([]);
    expect(kit.cluster.seq).toBeGreaterThan(seq);
  });

  it('strand nothing by a failure, before prefill has ended, or on a process that is gone', () => {
    const { kit } = setUp();
    kit.join('prefill', endpoints[0]!, { instance: 'one' });
    kit.join('decode', endpoints[1]!);
    const failing = kit.reservePair().grantId;
    kit.prefillDone(failing);
    kit.end(failing, 'failed', { fault: 'reset' });
    kit.end(kit.reservePair().grantId, 'cancelled');
    expect(handoffViews(kit.cluster)).toEqual([]);
    const left = kit.reservePair().grantId;
    kit.prefillDone(left);
    kit.end(left, 'cancelled');
    expect(handoffViews(kit.cluster)).toHaveLength(1);
    kit.register('prefill', endpoints[0]!, { instance: 'two' });
    kit.cluster.scheduler.sweepLedger();
    expect(handoffViews(kit.cluster)).toEqual([]);
  });
});
