import { LRUCache } from 'lru-cache';

import { type EndpointKey } from '../registry/lifetime.js';
import { type LeaveReason } from '../registry/service-registry.js';
import { type Worker } from '../workers/worker.js';

const keptPerEndpoint = 20;
const keptEndpoints = 2_000;

/** A lifetime that is over. Times are Unix milliseconds. */
export interface PastLifetime {
  readonly id: string;
  readonly generation: number;
  readonly registeredAtMs: number;
  readonly leftAtMs: number;
  readonly reason: LeaveReason;
  /** Kept to count what is still unfinished on it; an idle one is counted for good. */
  readonly worker: Worker;
}

/** Earlier lifetimes of each (role, endpoint), newest last; bounded in both directions. */
export class LifetimeHistory {
  readonly #past = new LRUCache<EndpointKey, PastLifetime[]>({ max: keptEndpoints });

  add(key: EndpointKey, lifetime: PastLifetime): void {
    const lifetimes = this.#past.get(key) ?? [];
    lifetimes.push(lifetime);
    if (lifetimes.length > keptPerEndpoint) lifetimes.shift();
    this.#past.set(key, lifetimes);
  }

  of(key: EndpointKey): readonly PastLifetime[] {
    return this.#past.peek(key) ?? [];
  }

  /** The ended lifetime with worker id `id`; costs a walk over all kept ones. */
  find(id: string): PastLifetime | undefined {
    for (const lifetimes of this.#past.values()) {
      const found = lifetimes.find((lifetime) => lifetime.id === id);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
