import { Cluster } from '../cluster.js';
import { receiptSchema, requestSchema } from '../contracts/request.schema.js';
import { cacheSchema } from '../contracts/cache.schema.js';
import { drainIntentSchema } from '../contracts/operation.schema.js';
import { overviewAnswerSchema } from '../contracts/overview.schema.js';
import { departedWorkerSchema, workerDetailSchema, workersAnswerSchema } from '../contracts/worker.schema.js';
import { createPolicy } from '../policies/create-policy.js';
import { defaultPolicyOptions } from '../policies/policy-options.js';
import { type Registration } from '../registry/registration.js';
import { TrafficHistory } from '../scheduling/traffic-history.js';
import { type AttemptOutcome } from '../scheduling/scheduler-port.js';
import { type PolicyName, type Role } from '../words.js';
import { type Worker } from '../workers/worker.js';
import { cacheTreeView, cacheViews } from './cache.view.js';
import { drainViews, quarantineView } from './operation.view.js';
import { overviewView } from './overview.view.js';
import { receiptView, requestViews } from './request.view.js';
import { departedViews, workerDetailView, workersView, workerView } from './worker.view.js';

const prefillUrl = 'http://10.0.0.1:8000';
const decodeUrl = 'http://10.0.0.2:8000';

function registration(role: Role, endpoint: string, more: Partial<Registration> = {}): Registration {
  return {
    source: 'zmq',
    role,
    endpoint,
    zmqAddress: '10.0.0.1:14579',
    instance: null,
    group: null,
    connector: { kind: 'nixl', evidence: 'label' },
    transferMode: null,
    startedAtSecs: null,
    models: ['m'],
    ttlMs: 10_000,
    ...more,
  };
}

function setUp() {
  const time = { now: 1_000_000 };
  const clock = { monotonicMs: () => time.now, wallMs: () => 1_700_000_000_000 + time.now };
  const traffic = new TrafficHistory(clock);
  const policy = (name: PolicyName) => createPolicy<Worker>(name, { random: () => 0.5, nowMs: () => time.now, options: defaultPolicyOptions });
  let generation = 41;
  const silent = (): void => undefined;
  const cluster = new Cluster({
    clock,
    nextGeneration: () => generation++,
    store: { saveDrain: silent, deleteDrain: silent, saveQuarantine: silent, deleteQuarantine: silent, saveAdded: silent, deleteAdded: silent },
    state: { drains: [], quarantine: [], added: [] },
    policies: { prefill: policy('cache_aware'), decode: policy('least_load'), regular: policy('least_load') },
    workers: { health: { failureThreshold: 3, successThreshold: 1, gate: false }, connector: 'auto' },
    handoffMaxAgeMs: 20_000,
    engineKvLeaseMs: 30_000,
    emit: silent,
    observer: { placed: silent, attemptEnded: silent, leaked: silent, requestClosed: (record) => traffic.closed(record) },
  });
  const tick = (ms: number): void => {
    for (let left = ms; left > 0; left -= 250) {
      time.now += Math.min(250, left);
      cluster.tick();
    }
  };
  cluster.tick();
  return { cluster, traffic, tick };
}

const key = { count: 2, lo: Uint32Array.of(1, 2), hi: Uint32Array.of(3, 4), ends: Float64Array.of(64, 100) };

function openPair(cluster: Cluster, requestKey: number): number {
  cluster.scheduler.openRequest({ requestKey, requestId: `r-${requestKey}`, route: '/v1/completions', model: 'm', stream: true });
  const placed = cluster.scheduler.reserve({ requestKey, model: 'm', shape: 'generation', prefixKey: key, sessionKey: null, exclude: [], failedPairs: [] });
  if (placed.kind !== 'pair') throw new Error(placed.kind);
  return placed.grantId;
}

function outcome(more: Partial<AttemptOutcome> = {}): AttemptOutcome {
  return { phase: 'decode', result: 'succeeded', status: 200, fault: null, timings: { prefillMs: 100, handoffMs: 5, firstByteMs: 135 }, ...more };
}

describe('views of workers', () => {
  it('show a registered worker in the shape of the contract', () => {
    const { cluster, tick } = setUp();
    cluster.register(registration('prefill', prefillUrl));
    tick(1_500);
    const answer = workersAnswerSchema.parse(workersView(cluster));
    expect(answer).toEqual(workersView(cluster));
    expect(answer.seq).toBe(cluster.seq);
    expect(answer.workers).toHaveLength(1);
    expect(answer.workers[0]).toMatchObject({
      id: 'prefill-41',
      generation: 41,
      endpoint: prefillUrl,
      zmqAddress: '10.0.0.1:14579',
      sources: ['zmq'],
      group: '*',
      connector: { kind: 'nixl', evidence: 'label' },
      models: ['m'],
      modelsKnown: true,
      adminState: 'ready',
      drain: null,
      heartbeat: 'ok',
      selectable: true,
      registeredAt: '2023-11-14T22:30:00.000Z',
      heartbeatAgeMs: 1_500,
      expiresInMs: 8_500,
      latency: null,
      flaps: { joinsLastHour: 1, leavesLastHour: 0, flapping: false },
      engine: null,
    });
    expect(answer.pools.prefill).toEqual({ total: 1, selectable: 1, load: 0, pressure: 0 });
    expect(answer.pools.decode.total).toBe(0);
  });

  it('count a request on its worker and keep processed = succeeded + failed + cancelled + load', () => {
    const { cluster, tick } = setUp();
    cluster.register(registration('prefill', prefillUrl));
    cluster.register(registration('decode', decodeUrl, { startedAtSecs: 1_700_000_000 }));
    const first = openPair(cluster, 1);
    openPair(cluster, 2);
    tick(250);
    cluster.scheduler.prefillDone(first, { connector: 'nixl', engineId: 'e' });
    const prefill = cluster.fleet.byId('prefill-41')!;
    const detail = workerDetailSchema.parse(workerDetailView(cluster, prefill));
    expect(detail).toMatchObject({ load: 1, holds: { kvOut: 1, bound: 0 }, processed: 2, succeeded: 1, cancelled: 0, failed: 0, seq: cluster.seq });
    expect(detail.inflight).toEqual([{ requestId: 'r-2', phase: 'prefill', model: 'm', ageMs: 250, stream: true }]);
    expect(detail.holdList).toEqual([{ requestId: 'r-1', kind: 'kvOut', ageMs: 0 }]);
    expect(detail.generations).toEqual([expect.objectContaining({ generation: 41, leftAt: null, reason: null, processed: 2, inflight: 1 })]);

    expect(cluster.scheduler.beginDecode(first, []).kind).toBe('decode');
    cluster.scheduler.firstByte(first, 'decode');
    const ended = outcome();
    cluster.scheduler.end(first, { ...ended, timings: { ...ended.timings, perChunkMs: 12 } });
    expect(workerView(cluster, prefill).latency).toEqual({ prefillMs: 100, firstByteMs: null, perChunkMs: null });
    const decode = workerView(cluster, cluster.fleet.byId('decode-42')!);
    expect(decode.latency).toEqual({ prefillMs: null, firstByteMs: 30, perChunkMs: 12 });
    expect(decode.engine).toMatchObject({ version: null, startedAt: '2023-11-14T22:13:20.000Z', running: null });
  });

  it('show the drain of a worker, and the work its earlier generation left', () => {
    const { cluster } = setUp();
    cluster.register(registration('prefill', prefillUrl));
    cluster.register(registration('decode', decodeUrl));
    openPair(cluster, 1);
    const drained = cluster.operations.drain([cluster.fleet.byId('prefill-41')!], {
      by: 'operator',
      reason: 'new GPU',
      deadlineMs: 60_000,
      onDeadline: 'flag',
      until: 'undrain',
      force: true,
    });
    expect(drained.ok).toBe(true);
    cluster.registry.evict(cluster.registry.get('prefill', prefillUrl)!);
    cluster.register(registration('prefill', prefillUrl));
    const successor = workerView(cluster, cluster.fleet.byId('prefill-43')!);
    expect(successor).toMatchObject({
      adminState: 'draining',
      safeToStop: false,
      unselectableBecause: ['draining'],
      departedWork: { leases: 1, holds: 0 },
      drain: { by: 'operator', reason: 'new GPU', until: 'undrain', overdue: false, deadlineAt: '2023-11-14T22:31:00.000Z' },
    });
    expect(drainViews(cluster).map((view) => drainIntentSchema.parse(view))).toEqual([
      expect.objectContaining({ role: 'prefill', endpoint: prefillUrl, workerId: 'prefill-43' }),
    ]);
    const departed = departedViews(cluster).map((view) => departedWorkerSchema.parse(view));
    expect(departed).toEqual([expect.objectContaining({ id: 'prefill-41', load: 1, leftReason: 'evicted', drain: null, selectable: false, safeToStop: false })]);
    const detail = workerDetailView(cluster, cluster.fleet.byId('prefill-41')!);
    expect(detail.leftReason).toBe('evicted');
    expect(detail.generations.map(({ generation, reason }) => [generation, reason])).toEqual([
      [41, 'evicted'],
      [43, null],
    ]);
  });
});

describe('views of requests', () => {
  it('list open requests before closed ones, newest first, and filter', () => {
    const { cluster } = setUp();
    cluster.register(registration('prefill', prefillUrl));
    cluster.register(registration('decode', decodeUrl));
    const grant = openPair(cluster, 1);
    openPair(cluster, 2);
    openPair(cluster, 3);
    cluster.scheduler.end(grant, outcome());
    cluster.scheduler.closeRequest(1, { status: 200, outcome: 'ok', usage: null, reportedCachedTokens: null });
    const ids = (filter: Partial<Parameters<typeof requestViews>[1]>): string[] =>
      requestViews(cluster, { limit: 10, ...filter }).map((view) => requestSchema.parse(view).requestId);
    expect(ids({})).toEqual(['r-3', 'r-2', 'r-1']);
    expect(ids({ state: 'inflight' })).toEqual(['r-3', 'r-2']);
    expect(ids({ state: 'recent' })).toEqual(['r-1']);
    expect(ids({ limit: 1 })).toEqual(['r-3']);
    expect(ids({ worker: 'prefill-41' })).toHaveLength(3);
    expect(ids({ worker: 'prefill-99' })).toEqual([]);
    expect(ids({ model: 'other' })).toEqual([]);
  });

  it('explain a placement: candidates, timings, and the cached tokens that were to be expected', () => {
    const { cluster, tick } = setUp();
    cluster.register(registration('prefill', prefillUrl));
    cluster.register(registration('decode', decodeUrl));
    for (const requestKey of [1, 2]) {
      const grant = openPair(cluster, requestKey);
      tick(100);
      cluster.scheduler.firstByte(grant, 'prefill');
      cluster.scheduler.prefillDone(grant, { connector: 'nixl', engineId: 'e' });
      cluster.scheduler.beginDecode(grant, []);
      cluster.scheduler.firstByte(grant, 'decode');
      cluster.scheduler.end(grant, outcome());
      cluster.scheduler.closeRequest(requestKey, {
        status: 200,
        outcome: 'ok',
        usage: { promptTokens: 40, completionTokens: 7 },
        reportedCachedTokens: 32,
      });
    }
    const [cold, warm] = [1, 2].map((requestKey) => receiptSchema.parse(receiptView(cluster, cluster.scheduler.requests.find(`r-${requestKey}`)!)));
    expect(cold!.attempts.map(({ phase, chosen, outcome: ended }) => [phase, chosen, ended])).toEqual([
      ['prefill', 'prefill-41', 'ok'],
      ['decode', 'decode-42', 'ok'],
    ]);
    expect(cold!.attempts[0]!.candidates).toEqual([expect.objectContaining({ id: 'prefill-41', load: 0, processed: 0 })]);
    expect(cold!.timings).toEqual({ queuedMs: 0, prefillMs: 100, handoffMs: 5, firstByteMs: 100, totalMs: 100 });
    expect(cold!.predictedCachedTokens).toBe(0);
    expect(warm!.predictedCachedTokens).toBe(40);
    expect(warm!.reportedCachedTokens).toBe(32);
    const [index] = cacheViews(cluster.fleet).map((view) => cacheSchema.parse(view));
    expect(index).toMatchObject({ role: 'prefill', model: 'm', coveredBytes: 100, hits: 1, workers: [{ id: 'prefill-41', coveredBytes: 100, share: 1, hits: 1 }] });
    expect(workersView(cluster).workers[0]!.cache).toEqual({ coveredBytes: 100, share: 1 });
    expect(cacheTreeView(cluster.fleet, 'prefill', 'm', 4, 10)).toHaveLength(1);
    expect(cacheTreeView(cluster.fleet, 'decode', 'm', 4, 10)).toEqual([]);
  });
});

describe('view of the traffic', () => {
  it('counts the last minute only, and no client fault as an error', () => {
    const { cluster, traffic, tick } = setUp();
    cluster.register(registration('prefill', prefillUrl, { ttlMs: null, source: 'static' }));
    cluster.register(registration('decode', decodeUrl, { ttlMs: null, source: 'static' }));
    const close = (requestKey: number, status: number, ended: string): void => {
      cluster.scheduler.closeRequest(requestKey, { status, outcome: ended, usage: { promptTokens: 1, completionTokens: 30 }, reportedCachedTokens: null });
    };
    tick(10_000);
    for (const requestKey of [1, 2, 3, 4]) {
      const grant = openPair(cluster, requestKey);
      cluster.scheduler.prefillDone(grant, { connector: 'nixl', engineId: 'e' });
      cluster.scheduler.beginDecode(grant, []);
      tick(250 * requestKey);
      cluster.scheduler.firstByte(grant, 'decode');
      cluster.scheduler.end(grant, outcome());
    }
    close(1, 200, 'ok');
    close(2, 400, 'engine_error');
    close(3, 502, 'upstream_unreachable');
    cluster.scheduler.openRequest({ requestKey: 9, requestId: 'waits', route: '/v1/completions', model: 'm', stream: false });
    const answer = overviewAnswerSchema.parse(overviewView(cluster, traffic));
    expect(answer.now).toMatchObject({ inflight: 2, queued: 1, errorShare: 1 / 3 });
    expect(Math.abs(answer.now.ttftMs.p50! / 500 - 1)).toBeLessThan(0.06);
    expect(Math.abs(answer.now.ttftMs.p95! / 750 - 1)).toBeLessThan(0.06);
    expect(answer.now.rps).toBeCloseTo(3 / 12.5);
    expect(answer.now.tokensPerSecond).toBeCloseTo(90 / 12.5);
    tick(61_000);
    expect(overviewView(cluster, traffic).now).toMatchObject({ rps: 0, errorShare: null, ttftMs: { p50: null, p95: null }, hitRate: null });
  });
});

describe('view of a quarantine', () => {
  it('tells until when', () => {
    const entry = { role: 'decode', endpoint: decodeUrl, sinceMs: 0, untilMs: 300_000, by: 'operator', reason: 'bad link' } as const;
    expect(quarantineView(entry)).toMatchObject({ since: '1970-01-01T00:00:00.000Z', until: '1970-01-01T00:05:00.000Z' });
    expect(quarantineView({ ...entry, untilMs: null }).until).toBeNull();
  });
});
