import { type DrainIntent, endpointKey, type OperatorState, type QuarantineEntry, type Registration, type Role } from '@switchyard/core';

import { type EventQuery, keptEvents, type NumberedEvent, type Store, type StoredSession } from './store.js';

/** Keeps nothing beyond the process: `--data-dir memory`. */
export class MemoryStore implements Store {
  readonly #drains = new Map<string, DrainIntent>();
  readonly #quarantine = new Map<string, QuarantineEntry>();
  readonly #added = new Map<string, Registration>();
  readonly #sessions = new Map<string, StoredSession>();
  readonly #keptEvents: number;
  #ceiling: number | null = null;
  #events: NumberedEvent[] = [];

  constructor(kept = keptEvents) {
    this.#keptEvents = kept;
  }

  load(): OperatorState {
    return { drains: [...this.#drains.values()], quarantine: [...this.#quarantine.values()], added: [...this.#added.values()] };
  }

  saveDrain(intent: DrainIntent): void {
    this.#drains.set(endpointKey(intent.role, intent.endpoint), intent);
  }

  deleteDrain(role: Role, endpoint: string): void {
    this.#drains.delete(endpointKey(role, endpoint));
  }

  saveQuarantine(entry: QuarantineEntry): void {
    this.#quarantine.set(endpointKey(entry.role, entry.endpoint), entry);
  }

  deleteQuarantine(role: Role, endpoint: string): void {
    this.#quarantine.delete(endpointKey(role, endpoint));
  }

  saveAdded(registration: Registration): void {
    this.#added.set(endpointKey(registration.role, registration.endpoint), registration);
  }

  deleteAdded(role: Role, endpoint: string): void {
    this.#added.delete(endpointKey(role, endpoint));
  }

  generationCeiling(): number | null {
    return this.#ceiling;
  }

  reserveGenerations(ceiling: number): void {
    this.#ceiling = ceiling;
  }

  lastEventSeq(): number {
    return this.#events.at(-1)?.eventSeq ?? 0;
  }

  appendEvents(events: readonly NumberedEvent[]): void {
    this.#events.push(...events);
    // Cut in large steps: dropping the oldest of a long array one by one moves all the others.
    if (this.#events.length > this.#keptEvents * 1.1) this.#events = this.#events.slice(-this.#keptEvents);
  }

  readEvents({ after, limit, types }: EventQuery): NumberedEvent[] {
    const fits = this.#events
      .slice(-this.#keptEvents)
      .filter(({ eventSeq, type }) => eventSeq > (after ?? 0) && (types === null || types.includes(type)));
    return after === null ? fits.slice(Math.max(0, fits.length - limit)) : fits.slice(0, limit);
  }

  saveSession(session: StoredSession): void {
    this.#sessions.set(session.key, session);
  }

  deleteSession(key: string): void {
    this.#sessions.delete(key);
  }

  liveSessions(nowMs: number): StoredSession[] {
    for (const { key, expiresAtMs } of [...this.#sessions.values()]) if (expiresAtMs <= nowMs) this.#sessions.delete(key);
    return [...this.#sessions.values()];
  }

  close(): void {
    this.#events = [];
  }
}
