import type { EventView, WorkerView } from '@switchyard/core/contracts';

import { engineSays, workerView } from '../../testing/worker-view.js';
import { attentionOf, type AttentionInput } from './attention.js';

const nowMs = Date.parse('2026-01-01T01:00:00.000Z');
const texts = (given: Partial<AttentionInput>): string[] => attentionOf({ workers: [], handoffs: [], events: [], nowMs, sinceArrivalMs: () => 0, ...given }).map(({ text }) => text);
const pair: readonly WorkerView[] = [workerView({ id: 'prefill-1' }), workerView({ id: 'decode-2' })];

describe('what needs attention', () => {
  it('is nothing in a healthy cluster', () => {
    expect(texts({ workers: pair })).toEqual([]);
  });

  it('says a late heartbeat with its age now', () => {
    const late = workerView({ id: 'decode-57', heartbeat: 'late', heartbeatAgeMs: 7000 });
    expect(texts({ workers: [...pair, late], sinceArrivalMs: (id) => (id === 'decode-57' ? 200 : 0) })).toEqual(['decode-57 is late: last heartbeat 7.2 s ago.']);
  });

  it('puts what stops clients first', () => {
    const workers = [workerView({ id: 'prefill-1', health: 'suspect' }), workerView({ id: 'decode-2', health: 'unhealthy', selectable: false, unselectableBecause: ['unhealthy'] })];
    expect(texts({ workers })).toEqual(['No decode worker is selectable: clients get 503.', 'decode-2 fails its health checks.', 'prefill-1 answers health checks, but requests on it hang.']);
  });

  it('tells a restart for a while, and only of the worker that came of it', () => {
    const event: EventView = { eventSeq: 5, at: '2026-01-01T00:59:00.000Z', type: 'replaced', worker: 'prefill-1', detail: { replaces: 'prefill-0' } };
    expect(texts({ workers: pair, events: [event] })).toEqual(['prefill-0 returned as prefill-1 after a restart.']);
    expect(texts({ workers: pair, events: [{ ...event, worker: 'prefill-9' }] })).toEqual([]);
    expect(texts({ workers: pair, events: [event], nowMs: nowMs + 3_600_000 })).toEqual([]);
  });

  it('tells flapping, drift, overdue drains, stranded KV and what may be stopped', () => {
    const drain = { since: '2026-01-01T00:00:00.000Z', by: 'o', reason: null, deadlineAt: null, until: 'restart' as const, overdue: true };
    expect(
      texts({
        workers: [
          ...pair,
          workerView({ id: 'decode-3', flaps: { joinsLastHour: 4, leavesLastHour: 3, flapping: true } }),
          workerView({ id: 'decode-4', load: 1, engine: engineSays(20) }),
          workerView({ id: 'decode-5', adminState: 'draining', load: 2, drain }),
          workerView({ id: 'decode-6', adminState: 'drained', safeToStop: true }),
        ],
        handoffs: [{ requestId: 'r', prefillId: 'prefill-1', decodeId: null, stage: 'stranded', ageMs: 1, maxAgeMs: 30_000 }],
      }),
    ).toEqual([
      'decode-3 flaps: 4 joins and 3 leaves in the last hour.',
      'decode-4 reports 20 requests, the router has 1 on it.',
      'decode-5 is past its drain deadline with 2 requests in flight.',
      '1 stranded KV hand-off on prefill-1: the client left, the engine still keeps the cache.',
      'decode-6 is drained: safe to stop.',
    ]);
  });
});
