import type { WorkerView } from '@switchyard/core/contracts';

/** A ready, healthy, idle worker, but for what is given. */
export function workerView(given: Partial<WorkerView> & Pick<WorkerView, 'id'>): WorkerView {
  const [role = 'decode', generation = '1'] = given.id.split('-');
  return {
    role: role as WorkerView['role'],
    endpoint: `http://10.0.0.${generation}:8000`,
    zmqAddress: null,
    generation: Number(generation),
    sources: ['zmq'],
    group: '0.11.0',
    connector: { kind: 'nixl', evidence: 'answer' },
    models: ['m'],
    modelsKnown: true,
    adminState: 'ready',
    drain: null,
    health: 'healthy',
    heartbeat: 'ok',
    circuit: 'closed',
    selectable: true,
    unselectableBecause: [],
    load: 0,
    holds: { kvOut: 0, bound: 0 },
    departedWork: { leases: 0, holds: 0 },
    safeToStop: false,
    pressure: 0,
    processed: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
    registeredAt: '2026-01-01T00:00:00.000Z',
    lastHeartbeatAt: '2026-01-01T00:00:01.000Z',
    heartbeatAgeMs: 1000,
    expiresInMs: 9000,
    cache: { coveredBytes: 0, share: 0 },
    latency: null,
    flaps: { joinsLastHour: 1, leavesLastHour: 0, flapping: false },
    engine: null,
    ...given,
  };
}

/** What an engine that was asked says of itself. */
export const engineSays = (running: number, waiting = 0, ageMs = 1000): NonNullable<WorkerView['engine']> => ({
  version: '0.11.0',
  startedAt: null,
  running,
  waiting,
  kvUsage: 0.5,
  ageMs,
});
