import { type SchedulerPort } from '@switchyard/core';
import { type ProxyOptions } from '../proxy-options.js';
import { type ProxyTelemetry } from '../proxy-telemetry.js';
import { type CoarseWheel } from '../upstream/coarse-wheel.js';
import { type EnginePools } from '../upstream/engine-pools.js';
import { type GrantBook } from './grant-handle.js';

/** What every request's flow works with. */
export interface FlowServices {
  readonly port: SchedulerPort;
  readonly grants: GrantBook;
  readonly pools: EnginePools;
  readonly wheel: CoarseWheel;
  readonly options: ProxyOptions;
  readonly telemetry: ProxyTelemetry;
}
