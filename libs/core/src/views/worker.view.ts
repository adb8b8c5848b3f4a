import { type Cluster } from '../cluster.js';
import {
  type DepartedWorkerView,
  type PoolsView,
  type PoolView,
  type WorkerDetailView,
  type WorkersAnswer,
  type WorkerView,
} from '../contracts/worker.schema.js';
import { type RolePool } from '../pools/role-pool.js';
import { type Role } from '../words.js';
import { type Departure, type Worker } from '../workers/worker.js';
import { cacheShares } from './cache.view.js';
import { isoTimeOf } from './iso-time.js';

/** All current workers and their pools at one `seq`. O(workers × models). */
export function workersView(cluster: Cluster): WorkersAnswer {
  return { seq: cluster.seq, workers: workerViews(cluster, cluster.fleet.workers()), pools: poolsView(cluster) };
}

/** `workers` as viewers see them. */
export function workerViews(cluster: Cluster, workers: Iterable<Worker>): WorkerView[] {
  const shares = new Map<Role, ReturnType<typeof cacheShares>>();
  const views: WorkerView[] = [];
  for (const worker of workers) {
    let shareOf = shares.get(worker.role);
    if (shareOf === undefined) shares.set(worker.role, (shareOf = cacheShares(cluster.fleet.pools[worker.role].policy)));
    views.push(describeWorker(cluster, worker, shareOf(worker)));
  }
  return views;
}

/** One worker, current or departed. O(workers × models). */
export function workerView(cluster: Cluster, worker: Worker): WorkerView {
  return describeWorker(cluster, worker, cacheShares(cluster.fleet.pools[worker.role].policy)(worker));
}

export function poolsView({ fleet }: Cluster): PoolsView {
  return { prefill: poolView(fleet.pools.prefill), decode: poolView(fleet.pools.decode), regular: poolView(fleet.pools.regular) };
}

/** Departed workers that still have leases or holds. */
export function departedViews(cluster: Cluster): DepartedWorkerView[] {
  return [...cluster.fleet.departedWorkers].flatMap((worker) =>
    worker.departure === null ? [] : [{ ...workerView(cluster, worker), ...leftOf(worker.departure) }],
  );
}

/** A worker with everything that is on it, and the lifetimes of its endpoint. */
export function workerDetailView(cluster: Cluster, worker: Worker): WorkerDetailView {
  const nowMs = cluster.clock.monotonicMs();
  return {
    ...workerView(cluster, worker),
    ...(worker.departure === null ? {} : leftOf(worker.departure)),
    seq: cluster.seq,
    inflight: [...worker.leases].map(({ requestId, phase, model, stream, sinceMs }) => ({
      requestId,
      phase,
      model,
      ageMs: nowMs - sinceMs,
      stream,
    })),
    holdList: [...worker.holds].map(({ requestId, kind, sinceMs }) => ({ requestId, kind, ageMs: nowMs - sinceMs })),
    generations: generationsAt(cluster, worker),
  };
}

function describeWorker(cluster: Cluster, worker: Worker, cache: WorkerView['cache']): WorkerView {
  const { fleet, listeningClock } = cluster;
  const { lifetime, ended, models } = worker;
  const current = worker.departure === null;
  const lastBeatMs = lifetime.heartbeat.lastAtMs;
  return {
    id: worker.id,
    role: worker.role,
    endpoint: worker.endpoint,
    zmqAddress: worker.zmqAddress,
    generation: worker.generation,
    sources: lifetime.sources,
    group: worker.group,
    connector: { ...worker.connector },
    models: models === null ? [] : [...models],
    modelsKnown: models !== null,
    adminState: worker.adminState,
    drain: current ? drainOf(cluster, worker) : null,
    health: worker.health.state,
    heartbeat: cluster.heartbeatOf(worker),
    circuit: worker.circuit,
    selectable: worker.selectable,
    unselectableBecause: worker.unselectableBecause,
    load: worker.load,
    holds: { kvOut: worker.kvOutHolds, bound: worker.boundHolds },
    departedWork: departedWorkOf(cluster, worker),
    safeToStop: current && fleet.safeToStop(worker),
    pressure: worker.pressure,
    processed: worker.processed,
    succeeded: ended.succeeded,
    failed: ended.failed,
    cancelled: ended.cancelled,
    registeredAt: isoTimeOf(worker.registeredAtMs),
    lastHeartbeatAt: worker.lastHeartbeatAtMs === null ? null : isoTimeOf(worker.lastHeartbeatAtMs),
    heartbeatAgeMs: lastBeatMs === null ? null : listeningClock.nowMs - lastBeatMs,
    expiresInMs: lifetime.expiresInMs(listeningClock.nowMs),
    cache,
    latency: latencyOf(worker),
    flaps: flapsOf(cluster, worker),
    engine: engineOf(cluster, worker),
  };
}

const hourMs = 3_600_000;
const flapWindowMs = 300_000;
const flapLifetimes = 3;

function flapsOf({ clock, fleet }: Cluster, worker: Worker): WorkerView['flaps'] {
  const nowMs = clock.wallMs();
  const past = fleet.history.of(worker.lifetime.key).filter(({ id }) => id !== worker.id);
  const joins = [...past.map(({ registeredAtMs }) => registeredAtMs), worker.registeredAtMs];
  return {
    joinsLastHour: joins.filter((atMs) => nowMs - atMs <= hourMs).length,
    leavesLastHour: past.filter(({ leftAtMs }) => nowMs - leftAtMs <= hourMs).length,
    flapping: joins.filter((atMs) => nowMs - atMs <= flapWindowMs).length >= flapLifetimes,
  };
}

function drainOf(cluster: Cluster, worker: Worker): WorkerView['drain'] {
  const intent = cluster.drains.get(worker.lifetime.key);
  if (intent === undefined) return null;
  const { sinceMs, by, reason, deadlineAtMs, until, overdue } = intent;
  return { since: isoTimeOf(sinceMs), by, reason, deadlineAt: deadlineAtMs === null ? null : isoTimeOf(deadlineAtMs), until, overdue };
}

function departedWorkOf(cluster: Cluster, worker: Worker): WorkerView['departedWork'] {
  const earlier = cluster.fleet.unfinishedAt(worker.lifetime.key).filter(({ generation }) => generation < worker.generation);
  return {
    leases: earlier.reduce((sum, { load }) => sum + load, 0),
    holds: earlier.reduce((sum, { holds }) => sum + holds.size, 0),
  };
}

function latencyOf({ latency }: Worker): WorkerView['latency'] {
  const { prefillMs, firstByteMs, perChunkMs } = latency;
  return prefillMs === null && firstByteMs === null ? null : { prefillMs, firstByteMs, perChunkMs };
}

function engineOf({ clock }: Cluster, { version, lifetime, engineLoad }: Worker): WorkerView['engine'] {
  const { startedAtSecs } = lifetime.facts;
  if (version === null && startedAtSecs === null && engineLoad === null) return null;
  const startedAt = startedAtSecs === null ? null : isoTimeOf(startedAtSecs * 1000);
  if (engineLoad === null) return { version, startedAt, running: null, waiting: null, kvUsage: null, ageMs: null };
  const { running, waiting, kvUsage, atMs } = engineLoad;
  return { version, startedAt, running, waiting, kvUsage, ageMs: clock.monotonicMs() - atMs };
}

function generationsAt({ fleet }: Cluster, { lifetime }: Worker): WorkerDetailView['generations'] {
  const past = fleet.history.of(lifetime.key).map(({ generation, registeredAtMs, leftAtMs, reason, worker }) => ({
    generation,
    registeredAt: isoTimeOf(registeredAtMs),
    leftAt: isoTimeOf(leftAtMs),
    reason,
    processed: worker.processed,
    inflight: worker.load,
  }));
  const current = fleet.byKey(lifetime.key);
  if (current === undefined) return past;
  const { generation, registeredAtMs, processed, load } = current;
  return [...past, { generation, registeredAt: isoTimeOf(registeredAtMs), leftAt: null, reason: null, processed, inflight: load }];
}

function leftOf({ atMs, reason }: Departure): { leftAt: string; leftReason: Departure['reason'] } {
  return { leftAt: isoTimeOf(atMs), leftReason: reason };
}

function poolView({ workers, selectableCount }: RolePool): PoolView {
  return {
    total: workers.length,
    selectable: selectableCount,
    load: workers.reduce((sum, { load }) => sum + load, 0),
    pressure: workers.reduce((sum, { pressure }) => sum + pressure, 0),
  };
}
