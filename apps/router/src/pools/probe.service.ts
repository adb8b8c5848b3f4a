import { Inject, Injectable } from '@nestjs/common';
import { type Cluster } from '@switchyard/core';
import { LOADED_CONFIG } from '../config/config.module.js';
import { type LoadedConfig } from '../config/load-config.js';
import { HealthProber } from './health-prober.js';
import { ModelDirectory } from './model-directory.js';
import { CLUSTER } from './pools.service.js';
import { ProbeSchedule } from './probe-schedule.js';

const loadIntervalMs = 5_000;

/** Probes the workers there are and tells the core what was found. */
@Injectable()
export class ProbeService {
  readonly #prober: HealthProber;
  readonly #schedule: ProbeSchedule;

  constructor(@Inject(LOADED_CONFIG) { config }: LoadedConfig, @Inject(CLUSTER) cluster: Cluster, models: ModelDirectory) {
    const { health, upstream } = config;
    this.#prober = new HealthProber({
      healthPath: health.endpoint,
      healthTimeoutMs: health.timeoutSecs * 1000,
      connectTimeoutMs: upstream.connectTimeoutSecs * 1000,
      engineApiKey: upstream.apiKey,
    });
    this.#schedule = new ProbeSchedule({
      prober: this.#prober,
      targets: () => cluster.probeTargets,
      report: (workerId, report) => {
        if (report.modelEntries !== null) models.learn(workerId, report.modelEntries);
        cluster.probed(workerId, report);
      },
      reportLoad: (workerId, load) => cluster.engineReported(workerId, load),
      intervalMs: health.intervalSecs * 1000,
      loadIntervalMs: health.scrapeEngines ? loadIntervalMs : null,
      monotonicMs: () => performance.now(),
      random: Math.random,
    });
  }

  tick(): void {
    this.#schedule.tick();
  }

  async stop(): Promise<void> {
    this.#schedule.stop();
    await this.#prober.close();
  }
}
