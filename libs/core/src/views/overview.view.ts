import { type Cluster } from '../cluster.js';
import { type OverviewAnswer } from '../contracts/overview.schema.js';
import { type TrafficWindow } from '../scheduling/traffic-window.js';

/** What the cluster does now. O(open requests + window). */
export function overviewView({ seq, scheduler }: Cluster, traffic: TrafficWindow): OverviewAnswer {
  return {
    seq,
    windowSecs: traffic.windowSecs,
    now: { ...traffic.rates(), inflight: scheduler.requests.openCount, queued: scheduler.requests.queuedCount },
  };
}
