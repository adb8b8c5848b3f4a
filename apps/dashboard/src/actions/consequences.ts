import type { ConsequencesView, WorkerView } from '@switchyard/core/contracts';

import { plural } from '../parts/format.js';

/** One sentence of what an action would mean. */
export interface Consequence {
  readonly text: string;
  readonly isGrave: boolean;
}

/** Of one worker, in the router's own judgement. */
export function consequencesFrom(view: ConsequencesView, role: WorkerView['role']): readonly Consequence[] {
  const { leasesNow, holdsNow, poolSelectableAfter, poolTotal, wouldStrand } = view;
  const found = [ofWork(leasesNow, holdsNow), ofPool(role, poolSelectableAfter, poolTotal)];
  if (wouldStrand !== null) {
    const { model, group } = wouldStrand;
    found.push({
      text: `${model === null ? 'No request' : `No request for ${model}`} could be placed any more: it is the last selectable ${wouldStrand.role} worker of group ${group}. The router will ask you to insist.`,
      isGrave: true,
    });
  }
  return found;
}

/** Of several workers together, as the last picture tells it; the router decides about each. */
export function consequencesOf(targets: readonly WorkerView[], all: readonly WorkerView[]): readonly Consequence[] {
  const leaving = new Set(targets.map(({ id }) => id));
  const found = [
    ofWork(
      sum(targets, ({ load }) => load),
      sum(targets, ({ holds: { kvOut, bound } }) => kvOut + bound),
    ),
  ];
  const remaining = (role: WorkerView['role'], group?: string): number =>
    all.filter((worker) => worker.selectable && !leaving.has(worker.id) && worker.role === role && (group === undefined || worker.group === group)).length;
  for (const role of new Set(targets.map((worker) => worker.role))) {
    found.push(ofPool(role, remaining(role), all.filter((worker) => worker.role === role).length));
  }
  const groups = new Map(targets.filter(({ role, selectable }) => role !== 'regular' && selectable).map(({ role, group }) => [`${role} ${group}`, { role, group }]));
  for (const { role, group } of groups.values()) {
    if (remaining(role, group) === 0 && remaining(role) > 0) found.push({ text: `Pairing group ${group} keeps no selectable ${role} worker.`, isGrave: true });
  }
  return found;
}

function ofWork(leases: number, holds: number): Consequence {
  const handoffs = holds === 0 ? '' : ` and ${plural(holds, 'hand-off')}`;
  return { text: leases + holds === 0 ? 'No request is on it now.' : `${plural(leases, 'request')} in flight${handoffs} will finish first.`, isGrave: false };
}

const ofPool = (role: WorkerView['role'], left: number, total: number): Consequence => ({
  text: `${left} of ${plural(total, `${role} worker`)} ${left === 1 ? 'remains' : 'remain'} selectable.`,
  isGrave: left === 0,
});

const sum = (workers: readonly WorkerView[], of: (worker: WorkerView) => number): number => workers.reduce((total, worker) => total + of(worker), 0);
