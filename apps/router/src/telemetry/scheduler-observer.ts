import { type SchedulerObserver, type TrafficHistory } from '@switchyard/core';
import { type Logger } from 'pino';

import { type ControlPlaneMetrics } from './control-plane-metrics.js';

type Observer = Pick<SchedulerObserver, 'placed' | 'attemptEnded' | 'leaked' | 'requestClosed'>;

/** Passes what the scheduler does to metrics and rates; a leak, which is always a bug, to the log too. */
export function schedulerObserver(metrics: ControlPlaneMetrics, traffic: TrafficHistory, log: Logger): Observer {
  return {
    placed: (phase, policy, reason) => metrics.placed(phase, policy, reason),
    attemptEnded: (grant, outcome) => metrics.attemptEnded(grant, outcome),
    leaked: (grant) => {
      metrics.leaked();
      log.error({ requestId: grant.request.requestId, grant: grant.id }, 'a grant outlived its request and was released');
    },
    requestClosed: (record) => {
      metrics.requestClosed(record);
      traffic.closed(record);
    },
  };
}
