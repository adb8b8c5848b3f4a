import { type Cluster } from '../cluster.js';
import { type HandoffView } from '../contracts/handoff.schema.js';
import { mostHandoffs } from '../contracts/live.schema.js';

/** Hand-offs and stranded KV, oldest first, at most `mostHandoffs`. O(hand-offs). */
export function handoffViews({ clock, scheduler }: Cluster): HandoffView[] {
  const { handoffs, handoffMaxAgeMs } = scheduler;
  const nowMs = clock.monotonicMs();
  const views: HandoffView[] = [];
  for (const { request, prefill, decode, state, handoffAtMs } of handoffs.live) {
    if (views.length >= mostHandoffs) break;
    if (prefill === null || handoffAtMs === null) continue;
    const stage = state === 'handoff' ? 'waiting' : 'sent';
    views.push({ requestId: request.requestId, prefillId: prefill.id, decodeId: decode?.id ?? null, stage, ageMs: nowMs - handoffAtMs, maxAgeMs: handoffMaxAgeMs });
  }
  for (const { requestId, prefill, decodeId, sinceMs } of handoffs.stranded.slice(0, mostHandoffs)) {
    views.push({ requestId, prefillId: prefill.id, decodeId, stage: 'stranded', ageMs: nowMs - sinceMs, maxAgeMs: handoffs.leaseMs });
  }
  return views.sort((a, b) => b.ageMs - a.ageMs).slice(0, mostHandoffs);
}
