import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TrafficHistory } from '@switchyard/core';
import { type Logger } from 'pino';

import { systemClock } from '../system-clock.js';
import { Metrics } from './metrics.js';
import { schedulerObserver } from './scheduler-observer.js';
import { LOGGER, PROXY_LOG, PROXY_TELEMETRY, REGISTRATION_COUNTER, SCHEDULER_OBSERVER } from './telemetry.tokens.js';

/** Logs, metrics and traffic rates for everybody. */
@Global()
@Module({})
export class TelemetryModule {
  static with(logger: Logger): DynamicModule {
    return {
      module: TelemetryModule,
      providers: [
        { provide: LOGGER, useValue: logger },
        { provide: PROXY_LOG, useValue: logger },
        Metrics,
        { provide: TrafficHistory, useFactory: () => new TrafficHistory(systemClock) },
        { provide: PROXY_TELEMETRY, useFactory: ({ dataPlane }: Metrics) => dataPlane, inject: [Metrics] },
        { provide: REGISTRATION_COUNTER, useFactory: ({ controlPlane }: Metrics) => controlPlane, inject: [Metrics] },
        {
          provide: SCHEDULER_OBSERVER,
          useFactory: ({ controlPlane }: Metrics, traffic: TrafficHistory) => schedulerObserver(controlPlane, traffic, logger),
          inject: [Metrics, TrafficHistory],
        },
      ],
      exports: [LOGGER, PROXY_LOG, PROXY_TELEMETRY, REGISTRATION_COUNTER, SCHEDULER_OBSERVER, TrafficHistory, Metrics],
    };
  }
}
