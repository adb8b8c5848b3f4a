import { type Cluster } from '../cluster.js';
import { type DrainIntentView, type QuarantineView } from '../contracts/operation.schema.js';
import { type QuarantineEntry } from '../operators/operator-store.js';
import { endpointKey } from '../registry/lifetime.js';
import { isoTimeOf } from './iso-time.js';

/** All drain intents, with or without a worker. */
export function drainViews({ drains, fleet }: Cluster): DrainIntentView[] {
  return drains.list().map(({ role, endpoint, sinceMs, by, reason, until, deadlineAtMs, onDeadline, overdue }) => ({
    role,
    endpoint,
    since: isoTimeOf(sinceMs),
    by,
    reason,
    until,
    deadlineAt: deadlineAtMs === null ? null : isoTimeOf(deadlineAtMs),
    onDeadline,
    overdue,
    workerId: fleet.byKey(endpointKey(role, endpoint))?.id ?? null,
  }));
}

export function quarantineView({ role, endpoint, sinceMs, untilMs, by, reason }: QuarantineEntry): QuarantineView {
  return { role, endpoint, since: isoTimeOf(sinceMs), until: untilMs === null ? null : isoTimeOf(untilMs), by, reason };
}
