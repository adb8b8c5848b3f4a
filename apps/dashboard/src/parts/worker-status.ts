import type { WorkerView } from '@switchyard/core/contracts';

/** The one derived status that orders and colours a worker. */
export const statusTones = ['down', 'late', 'draining', 'ready', 'drained', 'evicted'] as const;
export type StatusTone = (typeof statusTones)[number];

export interface WorkerStatus {
  readonly tone: StatusTone;
  readonly word: string;
  /** What it means, for a hover and for screen readers. */
  readonly meaning: string;
}

type Judged = Pick<WorkerView, 'adminState' | 'health' | 'heartbeat' | 'circuit' | 'unselectableBecause' | 'safeToStop'> & { readonly leftAt?: string | undefined };

/**
 * Admin state, health and circuit stay three things on screen; this is only their worst word. Drained comes before
 * down, because a drained engine that was stopped is no alarm.
 */
export function statusOf(worker: Judged): WorkerStatus {
  const because = new Set(worker.unselectableBecause);
  if (worker.leftAt !== undefined) return say('evicted', 'Gone', 'It left its pool; work of it still runs.');
  if (worker.adminState === 'drained') return say('drained', 'Drained', worker.safeToStop ? 'No work is left on it: safe to stop.' : 'Drained by this router.');
  const draining = worker.adminState === 'draining';
  if (worker.heartbeat === 'lost') return say('down', draining ? 'Lost, draining' : 'Lost', 'Its heartbeats stopped.');
  if (worker.health === 'unhealthy') return say('down', draining ? 'Down, draining' : 'Down', 'Its health checks fail.');
  if (draining) return say('draining', 'Draining', 'It takes no new work and finishes what it has.');
  if (worker.circuit === 'open') return say('down', 'Tripped', 'Too many calls failed; its circuit is open.');
  if (because.has('connector_unsupported')) return say('down', 'Unsupported', 'Its KV connector cannot be driven by this version.');
  if (worker.heartbeat === 'late') return say('late', 'Late', 'A heartbeat is overdue.');
  if (worker.health === 'suspect') return say('late', 'Suspect', 'It answers health checks but its requests hang.');
  if (worker.circuit === 'half_open') return say('late', 'Probing', 'Its circuit lets single calls through to try it.');
  if (because.has('restart_check')) return say('late', 'Checking', 'It may have restarted; its health is being asked.');
  if (because.has('gated') || worker.health === 'unknown') return say('late', 'Starting', 'It has not passed a health check yet.');
  if (because.has('at_capacity')) return say('late', 'Full', 'It has as much work as it may take.');
  return say('ready', 'Ready', 'It takes new work.');
}

const say = (tone: StatusTone, word: string, meaning: string): WorkerStatus => ({ tone, word, meaning });

/** Worst first. */
export function bySeverity(a: WorkerStatus, b: WorkerStatus): number {
  return statusTones.indexOf(a.tone) - statusTones.indexOf(b.tone);
}
