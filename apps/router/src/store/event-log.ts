import { type Clock, type LifecycleEvent } from '@switchyard/core';

import { storeFailure } from './store-failure.js';
import { type EventQuery, type NumberedEvent, type Store } from './store.js';

const flushAfterMs = 250;
const warnAfterMs = 60_000;

interface EventLogDeps {
  readonly store: Pick<Store, 'lastEventSeq' | 'appendEvents' | 'readEvents'>;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
  /** Events kept in memory, for viewers that only follow. */
  readonly ringSize?: number;
}

/**
 * Numbers and dates what happens and keeps it: in memory at once, in the store in batches, so that a burst of events
 * costs the placement loop one write. What an operator did is written at once.
 */
export class EventLog {
  readonly #deps: EventLogDeps;
  readonly #ringSize: number;
  #ring: NumberedEvent[] = [];
  #pending: NumberedEvent[] = [];
  readonly #listeners = new Set<(event: NumberedEvent) => void>();
  #timer: NodeJS.Timeout | null = null;
  #nextSeq: number;
  #dropped = 0;
  #warnedAtMs = -Infinity;

  constructor(deps: EventLogDeps) {
    this.#deps = deps;
    this.#ringSize = deps.ringSize ?? 2_000;
    this.#nextSeq = deps.store.lastEventSeq() + 1;
  }

  /** Number of the newest event, 0 before the first ever. */
  get newestSeq(): number {
    return this.#nextSeq - 1;
  }

  append(event: LifecycleEvent): void {
    const numbered: NumberedEvent = { ...event, eventSeq: this.#nextSeq, atMs: this.#deps.clock.wallMs() };
    this.#nextSeq += 1;
    this.#ring.push(numbered);
    if (this.#ring.length > this.#ringSize * 2) this.#ring = this.#ring.slice(-this.#ringSize);
    this.#pending.push(numbered);
    for (const listener of this.#listeners) listener(numbered);
    if (event.actor !== undefined) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), flushAfterMs).unref();
  }

  /** `listener` is told of each event in the step in which it happens; it must be cheap. */
  onAppended(listener: (event: NumberedEvent) => void): void {
    this.#listeners.add(listener);
  }

  /** Ascending. From memory where that reaches far enough back, or when the store cannot be read. */
  read(query: EventQuery): NumberedEvent[] {
    // A number that somebody has seen must not name another event after a crash.
    this.flush();
    const oldest = this.#ring[0]?.eventSeq ?? this.#nextSeq;
    if (oldest > 1 && !(query.after !== null && query.after >= oldest - 1)) {
      try {
        return this.#deps.store.readEvents(query);
      } catch (error) {
        this.#complain(`events cannot be read from the store: ${storeFailure(error)}`);
      }
    }
    const { after, limit, types } = query;
    const fits = this.#ring.filter(({ eventSeq, type }) => eventSeq > (after ?? 0) && (types === null || types.includes(type)));
    return after === null ? fits.slice(Math.max(0, fits.length - limit)) : fits.slice(0, limit);
  }

  /** Writes what is pending; what the store refuses is dropped and only told of. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const events = this.#pending;
    if (events.length === 0) return;
    this.#pending = [];
    try {
      this.#deps.store.appendEvents(events);
    } catch (error) {
      this.#dropped += events.length;
      this.#complain(`${String(this.#dropped)} events could not be kept in the store: ${storeFailure(error)}`);
    }
  }

  #complain(message: string): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#warnedAtMs < warnAfterMs) return;
    this.#warnedAtMs = nowMs;
    this.#dropped = 0;
    this.#deps.warn(message);
  }
}
