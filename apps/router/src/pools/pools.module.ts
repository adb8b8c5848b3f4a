import { Module } from '@nestjs/common';
import { Cluster, type ClusterDeps } from '@switchyard/core';
import { type Logger } from 'pino';
import { LOADED_CONFIG } from '../config/config.module.js';
import { type LoadedConfig } from '../config/load-config.js';
import { PolicyModule } from '../policy/policy.module.js';
import { PolicyService } from '../policy/policy.service.js';
import { EventLog } from '../store/event-log.js';
import { generationSource } from '../store/generation-source.js';
import { STORE } from '../store/store.module.js';
import { type Store } from '../store/store.js';
import { systemClock } from '../system-clock.js';
import { LOGGER, SCHEDULER_OBSERVER } from '../telemetry/telemetry.tokens.js';
import { ModelDirectory } from './model-directory.js';
import { CLUSTER, PoolsService } from './pools.service.js';
import { ProbeService } from './probe.service.js';

function createCluster(
  { config }: LoadedConfig,
  store: Store,
  events: EventLog,
  policies: PolicyService,
  observer: ClusterDeps['observer'],
  logger: Logger,
): Cluster {
  const { health, pd } = config;
  return new Cluster({
    clock: systemClock,
    nextGeneration: generationSource({ store, clock: systemClock, warn: (message) => logger.warn(message) }),
    store,
    state: store.load(),
    policies: policies.create(),
    workers: {
      health: { failureThreshold: health.failureThreshold, successThreshold: health.successThreshold, gate: health.gate },
      connector: pd.connector,
    },
    handoffMaxAgeMs: pd.handoffMaxAgeSecs * 1000,
    engineKvLeaseMs: pd.engineKvLeaseSecs * 1000,
    emit: (event) => {
      events.append(event);
      logger.info({ event: event.type, worker: event.worker, endpoint: event.endpoint, actor: event.actor, reason: event.reason, ...event.detail }, 'lifecycle');
    },
    observer,
  });
}

@Module({
  imports: [PolicyModule],
  providers: [
    {
      provide: CLUSTER,
      useFactory: createCluster,
      inject: [LOADED_CONFIG, STORE, EventLog, PolicyService, SCHEDULER_OBSERVER, LOGGER],
    },
    PoolsService,
    ModelDirectory,
    ProbeService,
  ],
  exports: [CLUSTER, PoolsService, ModelDirectory, ProbeService],
})
export class PoolsModule {}
