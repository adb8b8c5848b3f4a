import { engineSays, workerView } from '../testing/worker-view.js';
import { drainWords } from './drain-words.js';

const drained = workerView({ id: 'decode-1', adminState: 'drained', safeToStop: true });

describe('the words of a drain', () => {
  it('count down while work is left', () => {
    const worker = workerView({ id: 'decode-1', adminState: 'draining', load: 7, holds: { kvOut: 1, bound: 1 } });
    expect(drainWords(worker, 41_000)).toBe('7 in flight · 2 hand-offs · oldest 41 s');
    expect(drainWords({ ...worker, holds: { kvOut: 0, bound: 0 }, departedWork: { leases: 2, holds: 0 } }, null)).toBe('7 in flight · 2 on an earlier process');
  });

  it('say safe to stop only when the router does', () => {
    expect(drainWords(drained, null)).toBe('safe to stop');
    expect(drainWords({ ...drained, safeToStop: false }, null)).toBe('by this router');
    expect(drainWords({ ...drained, safeToStop: false, departedWork: { leases: 1, holds: 0 } }, null)).toBe('by this router; 1 left on an earlier process here');
  });

  it('never say safe to stop while the engine reports requests', () => {
    expect(drainWords({ ...drained, engine: engineSays(2, 1) }, null)).toBe('by this router; the engine still reports 3 requests');
  });

  it('are none for a worker in service', () => {
    expect(drainWords(workerView({ id: 'decode-1', load: 3 }), 1000)).toBeNull();
  });
});
