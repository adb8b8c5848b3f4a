import { type EventType, type LifecycleEvent, type OperatorState, type OperatorStore } from '@switchyard/core';

/** An event with its number and date. */
export interface NumberedEvent extends LifecycleEvent {
  readonly eventSeq: number;
  /** Unix milliseconds. */
  readonly atMs: number;
}

export interface EventQuery {
  /** Events numbered higher than this, from the oldest on; `null` = the newest ones. */
  readonly after: number | null;
  readonly limit: number;
  /** `null` = all types. */
  readonly types: readonly EventType[] | null;
}

/** A browser's login. */
export interface StoredSession {
  /** Digest of its id and of the token it was had for: neither can be told from it. */
  readonly key: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/**
 * What the router keeps of itself. All calls are synchronous. What cannot be done now throws `StoreUnavailableError`
 * and has changed nothing; a later call may succeed.
 */
export interface Store extends OperatorStore {
  load(): OperatorState;
  /** The lowest generation number that was never reserved; `null` when nothing is remembered. */
  generationCeiling(): number | null;
  /** Makes it durable that all generations below `ceiling` may have been given out. */
  reserveGenerations(ceiling: number): void;
  /** Number of the newest event kept; 0 when there is none. */
  lastEventSeq(): number;
  /** Keeps events, numbered upwards; the oldest beyond the bound go. They may be lost with the machine's power. */
  appendEvents(events: readonly NumberedEvent[]): void;
  /** Ascending. */
  readEvents(query: EventQuery): NumberedEvent[];
  saveSession(session: StoredSession): void;
  /** Idempotent. */
  deleteSession(key: string): void;
  /** Forgets those that have expired at `nowMs`, and gives the others. */
  liveSessions(nowMs: number): StoredSession[];
  /** Idempotent. */
  close(): void;
}

/** Most events kept. */
export const keptEvents = 100_000;
