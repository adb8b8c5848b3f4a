import { type WorkerAnswer } from '../operator/admin-answers.schema.js';

/** What a person asks first: can it get requests, and why not. */
export function selectability({ selectable, unselectableBecause }: WorkerAnswer): string {
  return selectable ? 'yes' : `no: ${unselectableBecause.join(', ')}`;
}

/** One line on how far a drain has come. */
export function drainLine(worker: WorkerAnswer): string {
  const { leases, holds } = worker.departedWork;
  const open = worker.load + worker.holds.kvOut + worker.holds.bound + leases + holds;
  const state = worker.adminState === 'draining' ? `draining, ${open} still open` : worker.adminState;
  return `${worker.id} ${worker.endpoint}: ${state}${worker.safeToStop ? ', safe to stop' : ''}`;
}
