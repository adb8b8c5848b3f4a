import { LRUCache } from 'lru-cache';

import { type Role, type SourceKind } from '../words.js';
import { type ListeningClock } from './listening-clock.js';
import { type EndpointKey, endpointKey, Lifetime } from './lifetime.js';
import { noFacts, type ProcessFacts, proofOfNewProcess } from './process-facts.js';
import { type Registration } from './registration.js';

/** Endpoints whose last process facts are remembered after their lifetime ended. */
const rememberedEndpoints = 10_000;

export type LeaveReason = 'expired' | 'replaced' | 'withdrawn' | 'evicted';

export type RegisterOutcome =
  | { readonly kind: 'new'; readonly lifetime: Lifetime; readonly provenNewProcess: boolean }
  | { readonly kind: 'heartbeat'; readonly lifetime: Lifetime }
  | { readonly kind: 'replaced'; readonly lifetime: Lifetime; readonly proof: string }
  | { readonly kind: 'quarantined' };

/** What came of a fact about a process; `deferred` = it proves a new one, but no generation can be had now. */
export type ReportOutcome = 'learnt' | 'replaced' | 'deferred' | 'stale';

/** Told of beginnings and ends of lifetimes, inside the step in which they happen. */
export interface LifetimeListener {
  began(lifetime: Lifetime, how: { readonly replaces: number | null; readonly provenNewProcess: boolean }): void;
  ended(lifetime: Lifetime, reason: LeaveReason, proof: string | null): void;
  /** A pinging source fell silent; another source still holds the lifetime. */
  heartbeatLost(lifetime: Lifetime): void;
}

interface RegistryDeps {
  readonly clock: ListeningClock;
  readonly nextGeneration: () => number;
  readonly isQuarantined: (key: EndpointKey) => boolean;
  readonly listener: LifetimeListener;
}

/**
 * Which engines exist, by what their sources state (lifecycle rules 1–4). One lifetime per (role, endpoint) at a time;
 * a new generation exactly when a registration comes after expiry or proves a new engine process.
 */
export class ServiceRegistry {
  readonly #deps: RegistryDeps;
  readonly #lifetimes = new Map<EndpointKey, Lifetime>();
  /** Statements that need no renewal and whose lifetime is over or refused; they come back when they may. */
  readonly #waiting = new Map<EndpointKey, Map<SourceKind, Registration>>();
  readonly #pastFacts = new LRUCache<EndpointKey, ProcessFacts>({ max: rememberedEndpoints });
  #expiredAtMs = -1;

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
  }

  get lifetimes(): Iterable<Lifetime> {
    return this.#lifetimes.values();
  }

  get(role: Role, endpoint: string): Lifetime | undefined {
    return this.#lifetimes.get(endpointKey(role, endpoint));
  }

  /** Facts of the last known process at an endpoint, alive or gone. */
  knownFacts(key: EndpointKey): ProcessFacts {
    return this.#lifetimes.get(key)?.facts ?? this.#pastFacts.get(key) ?? noFacts;
  }

  /**
   * Takes a source's statement. Expiry is decided first, so a registration after expiry begins a new lifetime even if
   * nothing has swept the old one away. Throws what `nextGeneration` throws, and then has changed nothing but expiry.
   */
  register(registration: Registration): RegisterOutcome {
    const key = endpointKey(registration.role, registration.endpoint);
    this.#expireOne(key);
    if (this.#deps.isQuarantined(key)) {
      if (registration.ttlMs === null) this.#wait(registration);
      return { kind: 'quarantined' };
    }
    const current = this.#lifetimes.get(key);
    if (current === undefined) {
      const waiting = [...(this.#waiting.get(key)?.values() ?? [])].filter(({ source }) => source !== registration.source);
      return this.#begin(key, this.#deps.nextGeneration(), [registration, ...waiting]);
    }
    const proof = current.contradiction(registration);
    if (proof !== null) return this.#replace(current, this.#deps.nextGeneration(), proof, registration);
    current.state(registration, this.#deps.clock.nowMs);
    return { kind: 'heartbeat', lifetime: current };
  }

  /** Takes a source's statement back; the lifetime ends with its last one. */
  withdraw(role: Role, endpoint: string, source: SourceKind): void {
    const key = endpointKey(role, endpoint);
    this.#stopWaiting(key, source);
    const lifetime = this.#lifetimes.get(key);
    if (lifetime?.withdraw(source) === true && !lifetime.alive) this.#end(lifetime, 'withdrawn', null);
  }

  /** Ends the lifetime by an operator's word; statements that need no renewal wait until `readmit`. */
  evict(lifetime: Lifetime): void {
    if (this.#lifetimes.get(lifetime.key) !== lifetime) return;
    for (const registration of lifetime.lastingRegistrations) {
      // Evicting an admin-added worker deletes its statement (lifecycle rule 15).
      if (registration.source !== 'admin') this.#wait(registration);
    }
    this.#end(lifetime, 'evicted', null);
  }

  /** Brings back what is still stated at endpoints that are not quarantined (any more); without a number, later. */
  readmitWaiting(): void {
    for (const [key, bySource] of this.#waiting) {
      if (this.#deps.isQuarantined(key) || this.#lifetimes.has(key)) continue;
      const generation = this.#generationOrNull();
      if (generation === null) return;
      this.#begin(key, generation, [...bySource.values()]);
    }
  }

  /** Ends lifetimes that are over; at most one pass per step of the listening clock. */
  expireDue(): void {
    const { nowMs } = this.#deps.clock;
    if (this.#expiredAtMs === nowMs) return;
    this.#expiredAtMs = nowMs;
    for (const key of [...this.#lifetimes.keys()]) this.#expireOne(key);
  }

  /** Learns when the engine of `lifetime` started; a later start than known proves a new process. */
  reportStart(lifetime: Lifetime, startedAtSecs: number): ReportOutcome {
    return this.#report(lifetime, 'start_time', (of) => of.learnStart(startedAtSecs));
  }

  /** Learns an engine id from a prefill answer; one not seen before proves a new process. */
  reportEngineId(lifetime: Lifetime, engineId: string): ReportOutcome {
    return this.#report(lifetime, 'engine_id', (of) => of.learnEngineId(engineId));
  }

  #report(lifetime: Lifetime, proof: string, proves: (of: Lifetime) => boolean): ReportOutcome {
    if (this.#lifetimes.get(lifetime.key) !== lifetime) return 'stale';
    if (!proves(lifetime)) return 'learnt';
    const generation = this.#generationOrNull();
    if (generation === null) return 'deferred';
    proves(this.#replace(lifetime, generation, proof, null).lifetime);
    return 'replaced';
  }

  /** For what nobody asked for in so many words and comes again: without a durable number it waits. */
  #generationOrNull(): number | null {
    try {
      return this.#deps.nextGeneration();
    } catch {
      return null;
    }
  }

  #replace(current: Lifetime, generation: number, proof: string, registration: Registration | null): RegisterOutcome & { kind: 'replaced' } {
    const lifetime = new Lifetime(current.role, current.endpoint, generation);
    this.#end(current, 'replaced', proof);
    lifetime.carryOver(current, registration?.source ?? null);
    this.#insert(lifetime, registration === null ? [] : [registration], current.generation, true);
    return { kind: 'replaced', lifetime, proof };
  }

  #begin(key: EndpointKey, generation: number, registrations: readonly Registration[]): RegisterOutcome & { kind: 'new' } {
    const past = this.#pastFacts.get(key) ?? noFacts;
    const provenNewProcess = registrations.some((registration) => proofOfNewProcess(past, registration) !== null);
    const [first] = registrations;
    if (first === undefined) throw new Error(`a lifetime of ${key} needs a registration`);
    const lifetime = new Lifetime(first.role, first.endpoint, generation);
    this.#insert(lifetime, registrations, null, provenNewProcess);
    return { kind: 'new', lifetime, provenNewProcess };
  }

  #insert(lifetime: Lifetime, registrations: readonly Registration[], replaces: number | null, provenNewProcess: boolean): void {
    for (const registration of registrations) lifetime.state(registration, this.#deps.clock.nowMs);
    this.#waiting.delete(lifetime.key);
    this.#lifetimes.set(lifetime.key, lifetime);
    this.#deps.listener.began(lifetime, { replaces, provenNewProcess });
  }

  #end(lifetime: Lifetime, reason: LeaveReason, proof: string | null): void {
    this.#lifetimes.delete(lifetime.key);
    this.#pastFacts.set(lifetime.key, lifetime.facts);
    this.#deps.listener.ended(lifetime, reason, proof);
  }

  #expireOne(key: EndpointKey): void {
    const lifetime = this.#lifetimes.get(key);
    if (lifetime === undefined) return;
    const expired = lifetime.expire(this.#deps.clock.nowMs);
    if (expired.length === 0) return;
    if (lifetime.alive) this.#deps.listener.heartbeatLost(lifetime);
    else this.#end(lifetime, 'expired', null);
  }

  #wait(registration: Registration): void {
    const key = endpointKey(registration.role, registration.endpoint);
    let bySource = this.#waiting.get(key);
    if (bySource === undefined) this.#waiting.set(key, (bySource = new Map<SourceKind, Registration>()));
    bySource.set(registration.source, registration);
  }

  #stopWaiting(key: EndpointKey, source: SourceKind): void {
    const bySource = this.#waiting.get(key);
    if (bySource?.delete(source) === true && bySource.size === 0) this.#waiting.delete(key);
  }
}
