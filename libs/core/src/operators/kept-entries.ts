import { type EndpointKey, endpointKey } from '../registry/lifetime.js';
import { type Role } from '../words.js';

interface Keyed {
  readonly role: Role;
  readonly endpoint: string;
}

/** Durable side of one kind of operator entry; both throw when the write is not durable. */
export interface EntryStore<T extends Keyed> {
  save(entry: T): void;
  delete(role: Role, endpoint: string): void;
}

/** Operator entries by (role, endpoint): the store first, then memory, so that a refused write changes nothing. */
export class KeptEntries<T extends Keyed> {
  readonly #store: EntryStore<T>;
  readonly #entries = new Map<EndpointKey, T>();
  /** Entries that are over although the store could not be told; told again before the next write. */
  readonly #undeleted = new Map<EndpointKey, Keyed>();

  constructor(store: EntryStore<T>, initial: readonly T[]) {
    this.#store = store;
    for (const entry of initial) this.#entries.set(endpointKey(entry.role, entry.endpoint), entry);
  }

  get(key: EndpointKey): T | undefined {
    return this.#entries.get(key);
  }

  list(): T[] {
    return [...this.#entries.values()];
  }

  /** Throws, and changes nothing, when the store does. */
  put(entry: T): void {
    this.#store.save(entry);
    const key = endpointKey(entry.role, entry.endpoint);
    this.#undeleted.delete(key);
    this.#entries.set(key, entry);
  }

  /** Throws, and changes nothing, when the store does. */
  remove(key: EndpointKey): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#store.delete(entry.role, entry.endpoint);
    this.#entries.delete(key);
    return entry;
  }

  /** Ends an entry by a fact rather than by a wish: it is over even if the store cannot be told yet. */
  lapse(key: EndpointKey): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#undeleted.set(key, entry);
    this.flushLapsed();
    return entry;
  }

  /** Tells the store of lapsed entries; what it cannot take now is kept for the next call. */
  flushLapsed(): void {
    for (const [key, entry] of this.#undeleted) {
      try {
        this.#store.delete(entry.role, entry.endpoint);
      } catch {
        return;
      }
      this.#undeleted.delete(key);
    }
  }
}
