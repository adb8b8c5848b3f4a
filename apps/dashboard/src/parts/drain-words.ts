import type { WorkerView } from '@switchyard/core/contracts';

import { duration, plural } from './format.js';

type Drained = Pick<WorkerView, 'adminState' | 'load' | 'holds' | 'departedWork' | 'safeToStop' | 'engine' | 'drain'>;

/**
 * How far a drain has come, in the words that may be trusted: "safe to stop" only when the router says so and the engine
 * does not contradict. `null` when nothing drains.
 */
export function drainWords(worker: Drained, oldestMs: number | null): string | null {
  const { adminState, load, holds, departedWork, safeToStop, engine, drain } = worker;
  if (adminState === 'ready') return null;
  const handoffs = holds.kvOut + holds.bound;
  const earlier = departedWork.leases + departedWork.holds;
  if (adminState === 'draining') {
    return [
      drain?.overdue === true ? 'overdue' : '',
      `${load} in flight`,
      handoffs === 0 ? '' : plural(handoffs, 'hand-off'),
      earlier === 0 ? '' : `${earlier} on an earlier process`,
      oldestMs === null ? '' : `oldest ${duration(oldestMs)}`,
    ]
      .filter(Boolean)
      .join(' · ');
  }
  const engineHas = (engine?.running ?? 0) + (engine?.waiting ?? 0);
  if (engineHas > 0) return `by this router; the engine still reports ${plural(engineHas, 'request')}`;
  if (safeToStop) return 'safe to stop';
  return earlier > 0 ? `by this router; ${earlier} left on an earlier process here` : 'by this router';
}
