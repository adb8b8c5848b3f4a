import type { WorkerView } from '@switchyard/core/contracts';

import { workerView } from '../testing/worker-view.js';
import { bySeverity, statusOf } from './worker-status.js';

const of = (given: Partial<WorkerView>): string => {
  const { tone, word } = statusOf(workerView({ id: 'decode-1', ...given }));
  return `${tone} ${word}`;
};

describe('the derived status of a worker', () => {
  it.each<[string, Partial<WorkerView>]>([
    ['ready Ready', {}],
    ['late Late', { heartbeat: 'late' }],
    ['late Suspect', { health: 'suspect' }],
    ['late Starting', { health: 'unknown', selectable: false, unselectableBecause: ['gated'] }],
    ['late Checking', { unselectableBecause: ['restart_check'] }],
    ['late Full', { unselectableBecause: ['at_capacity'] }],
    ['late Probing', { circuit: 'half_open' }],
    ['down Tripped', { circuit: 'open' }],
    ['down Down', { health: 'unhealthy' }],
    ['down Lost', { heartbeat: 'lost' }],
    ['down Unsupported', { unselectableBecause: ['connector_unsupported'] }],
    ['draining Draining', { adminState: 'draining' }],
    ['drained Drained', { adminState: 'drained' }],
  ])('%s', (expected, given) => {
    expect(of(given)).toBe(expected);
  });

  it('shows a failing engine under a drain, but no alarm once it is drained', () => {
    expect(of({ adminState: 'draining', health: 'unhealthy' })).toBe('down Down, draining');
    expect(of({ adminState: 'drained', health: 'unhealthy', heartbeat: 'lost' })).toBe('drained Drained');
  });

  it('says of a departed worker that it is gone', () => {
    expect(statusOf({ ...workerView({ id: 'decode-1' }), leftAt: '2026-01-01T00:00:00.000Z' })).toMatchObject({ tone: 'evicted', word: 'Gone' });
  });

  it('orders the worst first', () => {
    const statuses = [statusOf(workerView({ id: 'decode-1' })), statusOf(workerView({ id: 'decode-2', health: 'unhealthy' })), statusOf(workerView({ id: 'decode-3', heartbeat: 'late' }))];
    expect(statuses.sort(bySeverity).map(({ word }) => word)).toEqual(['Down', 'Late', 'Ready']);
  });
});
