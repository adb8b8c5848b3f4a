import type { WorkerView } from '@switchyard/core/contracts';

import { plural } from '../parts/format.js';

/** What taking workers out of their pools would mean, as the last picture tells it; the router decides again. */
export interface Consequence {
  readonly text: string;
  readonly isGrave: boolean;
}

export function consequencesOf(targets: readonly WorkerView[], all: readonly WorkerView[]): readonly Consequence[] {
  const leaving = new Set(targets.map(({ id }) => id));
  const leases = sum(targets, ({ load }) => load);
  const holds = sum(targets, ({ holds: { kvOut, bound } }) => kvOut + bound);
  const found: Consequence[] = [
    {
      text: leases + holds === 0 ? 'No request is on it now.' : `${plural(leases, 'request')} in flight${holds === 0 ? '' : ` and ${plural(holds, 'hand-off')}`} will finish first.`,
      isGrave: false,
    },
  ];
  for (const role of ['prefill', 'decode', 'regular'] as const) {
    const pool = all.filter((worker) => worker.role === role);
    if (!pool.some(({ id }) => leaving.has(id))) continue;
    const left = pool.filter(({ id, selectable }) => selectable && !leaving.has(id)).length;
    found.push({ text: `${left} of ${plural(pool.length, `${role} worker`)} ${left === 1 ? 'remains' : 'remain'} selectable.`, isGrave: left === 0 });
  }
  for (const worker of targets) {
    const others = all.filter(({ id, role, group, selectable }) => selectable && !leaving.has(id) && role === worker.role && group === worker.group);
    const hasPoolLeft = all.some(({ id, role, selectable }) => selectable && !leaving.has(id) && role === worker.role);
    if (worker.role !== 'regular' && others.length === 0 && hasPoolLeft && worker.selectable) {
      found.push({ text: `Pairing group ${worker.group} keeps no selectable ${worker.role} worker.`, isGrave: true });
    }
  }
  return [...new Map(found.map((one) => [one.text, one])).values()];
}

const sum = (workers: readonly WorkerView[], of: (worker: WorkerView) => number): number => workers.reduce((total, worker) => total + of(worker), 0);
