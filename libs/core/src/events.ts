import { type Role } from './words.js';

export const eventTypes = [
  'registered',
  'replaced',
  'expired',
  'departed',
  'late',
  'health',
  'circuit',
  'drain',
  'drained',
  'undrain',
  'evict',
  'readmit',
  'added',
  'removed',
  'overdue',
  'config',
  'session',
  'takeover',
  'rejected',
] as const;
export type EventType = (typeof eventTypes)[number];

/** One line of the life of the cluster or of the audit log, before it is numbered and dated. */
export interface LifecycleEvent {
  readonly type: EventType;
  readonly role?: Role;
  readonly endpoint?: string;
  /** Worker id. */
  readonly worker?: string;
  /** Who did it, for operators' actions. */
  readonly actor?: string;
  readonly reason?: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
}

export type EventSink = (event: LifecycleEvent) => void;
