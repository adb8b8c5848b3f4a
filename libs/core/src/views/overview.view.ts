import { type Cluster } from '../cluster.js';
import { type OverviewAnswer, type OverviewNow } from '../contracts/overview.schema.js';
import { type TrafficHistory, type TrafficLook, usualWindowSecs } from '../scheduling/traffic-history.js';

/** What is in flight now. O(open requests). */
export function trafficLook({ scheduler }: Cluster): TrafficLook {
  return { inflight: scheduler.requests.openCount, queued: scheduler.requests.queuedCount };
}

/** What the cluster does now, averaged over `windowSecs`. O(open requests + window). */
export function overviewNow(cluster: Cluster, traffic: TrafficHistory, windowSecs = usualWindowSecs): OverviewNow {
  return { ...traffic.rates(windowSecs), ...trafficLook(cluster) };
}

/** The same with the way there. */
export function overviewView(cluster: Cluster, traffic: TrafficHistory, windowSecs = usualWindowSecs): OverviewAnswer {
  return { seq: cluster.seq, windowSecs, now: overviewNow(cluster, traffic, windowSecs), series: traffic.series(windowSecs) };
}
