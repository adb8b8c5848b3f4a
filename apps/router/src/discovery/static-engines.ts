import { type EndpointKey, endpointKey, type Registration, type Role, roles } from '@switchyard/core';
import { type StaticEngine } from '../config/static-engine.js';
import { type DiscoverySink, type DiscoverySource } from './discovery-source.js';

/** What an operator lists, by role. */
export type ListedEngines = Readonly<Record<Role, readonly StaticEngine[]>>;

/** The registrations of listed engines, in the order given; they hold until the router ends. A repeated one counts once. */
export function staticRegistrations(listed: ListedEngines): readonly Registration[] {
  const byKey = new Map<EndpointKey, Registration>();
  for (const role of roles) {
    for (const engine of listed[role]) byKey.set(endpointKey(role, engine.endpoint), registrationOf(role, engine));
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

function registrationOf(role: Role, { endpoint, group, bootstrapPort }: StaticEngine): Registration {
  return {
    source: 'static',
    role,
    endpoint,
    zmqAddress: null,
    instance: null,
    group,
    connector: bootstrapPort === null ? null : { kind: 'mooncake', evidence: 'bootstrap' },
    transferMode: null,
    startedAtSecs: null,
    models: null,
    ttlMs: null,
  };
}
