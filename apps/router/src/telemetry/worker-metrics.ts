import { type Cluster, type Worker } from '@switchyard/core';
import { Counter, Gauge, type Registry } from 'prom-client';

const circuitValues = { closed: 0, open: 1, half_open: 2 } as const;

/** A series of one worker: stable across restarts of its engine, so the generation is no label. */
interface WorkerLabels {
  role: string;
  endpoint: string;
  departed?: '1';
}

interface Sampled {
  readonly labels: WorkerLabels;
  readonly value: number;
}

/** Gauges of the workers, computed when scraped: what is gone has no series. */
export function registerWorkerMetrics(registry: Registry, cluster: Cluster): void {
  const registers = [registry];
  const labelNames = ['role', 'endpoint', 'departed'];
  const gauge = (name: string, help: string, value: (worker: Worker) => number): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels, value: sum } of summed(cluster, value)) this.set({ ...labels }, sum);
      },
    });
  };
  gauge('switchyard_worker_load', 'Live leases.', ({ load }) => load);
  gauge('switchyard_worker_pressure', 'Live leases and bound holds: what policies compare.', ({ pressure }) => pressure);
  gauge('switchyard_worker_selectable', 'Whether it may get new work.', ({ selectable }) => Number(selectable));
  gauge('switchyard_worker_circuit_state', '0 closed, 1 open, 2 half-open.', ({ circuit }) => circuitValues[circuit]);
  new Gauge({
    name: 'switchyard_worker_holds',
    help: 'Claims that are not load but forbid calling a worker drained.',
    labelNames: [...labelNames, 'kind'],
    registers,
    collect() {
      this.reset();
      for (const [kind, count] of [
        ['kvOut', ({ kvOutHolds }: Worker) => kvOutHolds],
        ['bound', ({ boundHolds }: Worker) => boundHolds],
      ] as const) {
        for (const { labels, value } of summed(cluster, count)) this.set({ ...labels, kind }, value);
      }
    },
  });
  new Counter({
    name: 'switchyard_worker_processed_total',
    help: 'Leases begun on the current generation; starts over with it.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { labels, value } of summed(cluster, ({ processed }) => processed)) this.inc({ ...labels }, value);
    },
  });
  new Gauge({
    name: 'switchyard_worker_info',
    help: 'Always 1; joins the other series with what is known of the worker.',
    labelNames: ['role', 'endpoint', 'worker', 'generation', 'group', 'version'],
    registers,
    collect() {
      this.reset();
      for (const { id, role, endpoint, generation, group, version } of cluster.fleet.workers()) {
        this.set({ role, endpoint, worker: id, generation, group, version: version ?? '' }, 1);
      }
    },
  });
  new Gauge({
    name: 'switchyard_leases_live',
    help: 'Live leases of all workers, departed ones included.',
    registers,
    collect() {
      let live = 0;
      for (const worker of cluster.fleet.workers()) live += worker.load;
      for (const worker of cluster.fleet.departedWorkers) live += worker.load;
      this.set(live);
    },
  });
}

/** One sample per current worker, and one per endpoint with departed generations: their sum. */
function summed(cluster: Cluster, value: (worker: Worker) => number): Iterable<Sampled> {
  const samples = new Map<string, Sampled>();
  for (const worker of cluster.fleet.workers()) {
    const { role, endpoint } = worker;
    samples.set(worker.lifetime.key, { labels: { role, endpoint }, value: value(worker) });
  }
  for (const worker of cluster.fleet.departedWorkers) {
    const { role, endpoint, lifetime } = worker;
    const key = `departed ${lifetime.key}`;
    samples.set(key, { labels: { role, endpoint, departed: '1' }, value: (samples.get(key)?.value ?? 0) + value(worker) });
  }
  return samples.values();
}
