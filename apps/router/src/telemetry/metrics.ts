import { Injectable } from '@nestjs/common';
import { type Cluster } from '@switchyard/core';
import { Gauge, Registry } from 'prom-client';

import { ControlPlaneMetrics } from './control-plane-metrics.js';
import { DataPlaneMetrics } from './data-plane-metrics.js';
import { knownModels } from './known-models.js';
import { registerPrefixIndexMetrics } from './prefix-index-metrics.js';
import { registerProcessMetrics } from './process-metrics.js';
import { registerWorkerMetrics } from './worker-metrics.js';

/** What only the running data plane can tell. */
export interface DataPlaneGauges {
  /** Bytes of client requests held in memory. */
  bufferedBytes(): number;
}

/** All metrics of the process, in a registry of their own. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly dataPlane = new DataPlaneMetrics(this.registry);
  readonly controlPlane = new ControlPlaneMetrics(this.registry);
  readonly #stopProcessMetrics: () => void;

  constructor() {
    this.#stopProcessMetrics = registerProcessMetrics(this.registry);
    gauge(this.registry, 'switchyard_inflight_requests', 'Requests that came and have no complete answer yet.', () => this.dataPlane.inflight);
  }

  /** Adds what is read from the cluster at each scrape. Once, when there is one: the cluster itself reports to us. */
  watch(cluster: Cluster): void {
    const knowsModel = knownModels(cluster.fleet);
    this.dataPlane.recogniseModels(knowsModel);
    registerWorkerMetrics(this.registry, cluster);
    registerPrefixIndexMetrics(this.registry, cluster, knowsModel);
    gauge(this.registry, 'switchyard_queue_depth', 'Requests without a worker yet.', () => cluster.scheduler.requests.queuedCount);
  }

  /** Adds what is read from the data plane at each scrape. Once. */
  watchDataPlane(gauges: DataPlaneGauges): void {
    gauge(this.registry, 'switchyard_buffered_bytes', 'Bytes of client requests held in memory.', () => gauges.bufferedBytes());
  }

  /** Stops measuring the process. */
  onModuleDestroy(): void {
    this.#stopProcessMetrics();
  }
}

function gauge(registry: Registry, name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(value());
    },
  });
}
