import { type ProcessFacts } from '../registry/process-facts.js';
import { type Registration } from '../registry/registration.js';
import { type DrainUntil, type OnDeadline, type Role } from '../words.js';

/** An operator's wish on (role, endpoint) that it takes no new work. Times are Unix milliseconds. */
export interface DrainIntent {
  readonly role: Role;
  readonly endpoint: string;
  readonly sinceMs: number;
  readonly by: string;
  readonly reason: string | null;
  readonly until: DrainUntil;
  readonly deadlineAtMs: number | null;
  readonly onDeadline: OnDeadline;
  /** The deadline has passed with work left. */
  readonly overdue: boolean;
  /** The engine process that was drained; a contradiction proves that another one has come. */
  readonly facts: ProcessFacts;
}

/** An evicted endpoint whose registrations are refused. Times are Unix milliseconds. */
export interface QuarantineEntry {
  readonly role: Role;
  readonly endpoint: string;
  readonly sinceMs: number;
  /** `null` = until readmitted. */
  readonly untilMs: number | null;
  readonly by: string;
  readonly reason: string;
}

/**
 * What must survive a restart of the router (lifecycle rule 18). Every method is durable when it returns and throws
 * when it cannot be: the operator's action is then refused and nothing has changed.
 */
export interface OperatorStore {
  saveDrain(intent: DrainIntent): void;
  deleteDrain(role: Role, endpoint: string): void;
  saveQuarantine(entry: QuarantineEntry): void;
  deleteQuarantine(role: Role, endpoint: string): void;
  saveAdded(registration: Registration): void;
  deleteAdded(role: Role, endpoint: string): void;
}

/** What a store held at the start. */
export interface OperatorState {
  readonly drains: readonly DrainIntent[];
  readonly quarantine: readonly QuarantineEntry[];
  readonly added: readonly Registration[];
}
