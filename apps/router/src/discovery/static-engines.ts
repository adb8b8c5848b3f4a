import { type Registration, type Role } from '@switchyard/core';
import { type DiscoverySink, type DiscoverySource } from './discovery-source.js';

/** An engine an operator lists, as the flags state it. */
export interface ListedEngine {
  readonly endpoint: string;
  readonly group: string | null;
}

export interface ListedEngines {
  readonly prefill: readonly ListedEngine[];
  readonly decode: readonly ListedEngine[];
  readonly regular: readonly ListedEngine[];
}

/** The registrations of listed engines, in the order given; they hold until the router ends. A repeated one counts once. */
export function staticRegistrations(listed: ListedEngines): readonly Registration[] {
  const byKey = new Map<string, Registration>();
  for (const role of ['prefill', 'decode', 'regular'] as const) {
    for (const engine of listed[role]) byKey.set(`${role} ${engine.endpoint}`, registrationOf(role, engine));
  }
  return [...byKey.values()];
}

/** Engines named on the command line or in the configuration. */
export class StaticEngines implements DiscoverySource {
  readonly kind = 'static';
  readonly #registrations: readonly Registration[];
  #used = false;

  constructor(listed: ListedEngines) {
    this.#registrations = staticRegistrations(listed);
  }

  start(sink: DiscoverySink): Promise<void> {
    if (this.#used) return Promise.reject(new Error('a discovery source starts once'));
    this.#used = true;
    for (const registration of this.#registrations) sink.register(registration);
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#used = true;
    return Promise.resolve();
  }
}

function registrationOf(role: Role, { endpoint, group }: ListedEngine): Registration {
  return {
    source: 'static',
    role,
    endpoint,
    zmqAddress: null,
    instance: null,
    group,
    connector: null,
    transferMode: null,
    startedAtSecs: null,
    models: null,
    ttlMs: null,
  };
}
