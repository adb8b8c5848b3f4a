import { type Role, type SourceKind } from '../words.js';
import { HeartbeatHistory } from './heartbeat-history.js';
import { factsOf, mergeFacts, noFacts, type ProcessFacts, proofOfNewProcess } from './process-facts.js';
import { type Registration } from './registration.js';

/** Whose word counts when several sources state one endpoint, best first. */
const precedence: readonly SourceKind[] = ['admin', 'kubernetes', 'file', 'zmq', 'static'];

/** Names (role, endpoint): the only thing operator intents are kept by. */
export type EndpointKey = `${Role}|${string}`;

export function endpointKey(role: Role, endpoint: string): EndpointKey {
  return `${role}|${endpoint}`;
}

interface Statement {
  readonly registration: Registration;
  /** On the listening clock; `null` = until withdrawn. */
  readonly expiresAtMs: number | null;
}

/** One continuous lifetime of (role, endpoint): which sources hold it and what they say. */
export class Lifetime {
  readonly key: EndpointKey;
  readonly role: Role;
  readonly endpoint: string;
  readonly generation: number;
  #heartbeat = new HeartbeatHistory();
  readonly #statements = new Map<SourceKind, Statement>();
  /** By source, kept when its statement expires: a static engine that pings again may prove a new process. */
  readonly #facts = new Map<SourceKind, ProcessFacts>();
  /** What the first source to say so told of the process: a second source's other name for it is no other process. */
  #named: ProcessFacts = noFacts;
  #learntStartSecs: number | null = null;
  readonly #engineIds = new Set<string>();

  constructor(role: Role, endpoint: string, generation: number) {
    this.key = endpointKey(role, endpoint);
    this.role = role;
    this.endpoint = endpoint;
    this.generation = generation;
  }

  /** Sources that hold it now, best first. */
  get sources(): SourceKind[] {
    return precedence.filter((source) => this.#statements.has(source));
  }

  get alive(): boolean {
    return this.#statements.size > 0;
  }

  get heartbeat(): HeartbeatHistory {
    return this.#heartbeat;
  }

  /** Whether the process facts in `registration` contradict this lifetime; `null` = they do not. */
  contradiction(registration: Registration): string | null {
    const before = mergeFacts(this.#facts.get(registration.source) ?? noFacts, { ...noFacts, startedAtSecs: this.#learntStartSecs });
    return proofOfNewProcess(before, factsOf(registration));
  }

  /** Adds or renews a statement at `nowMs` of the listening clock. */
  state(registration: Registration, nowMs: number): void {
    const { source, ttlMs } = registration;
    this.#statements.set(source, { registration, expiresAtMs: ttlMs === null ? null : nowMs + ttlMs });
    this.#facts.set(source, mergeFacts(this.#facts.get(source) ?? noFacts, factsOf(registration)));
    this.#named = mergeFacts(factsOf(registration), this.#named);
    if (registration.startedAtSecs !== null) this.#noteStart(registration.startedAtSecs);
    if (ttlMs !== null) this.#heartbeat.beat(nowMs, ttlMs);
  }

  /**
   * Takes over what sources other than `source` state of `ended`, whose process is proven gone. It expires when it
   * would have, and tells nothing of the process that is there now: the next word of such a source is learning.
   */
  carryOver(ended: Lifetime, source: SourceKind | null): void {
    for (const [other, statement] of ended.#statements) {
      if (other === source) continue;
      this.#statements.set(other, statement);
      if (statement.expiresAtMs !== null) this.#heartbeat = ended.#heartbeat;
    }
  }

  withdraw(source: SourceKind): boolean {
    return this.#statements.delete(source);
  }

  /** Drops statements that are over at `nowMs`; returns their sources. */
  expire(nowMs: number): SourceKind[] {
    const expired: SourceKind[] = [];
    for (const [source, { expiresAtMs }] of this.#statements) {
      if (expiresAtMs !== null && expiresAtMs <= nowMs) expired.push(source);
    }
    for (const source of expired) this.#statements.delete(source);
    return expired;
  }

  /** Statements that outlive a refused or ended lifetime: those no ping has to renew. */
  get lastingRegistrations(): Registration[] {
    return [...this.#statements.values()].filter(({ expiresAtMs }) => expiresAtMs === null).map(({ registration }) => registration);
  }

  /** Time left of the statement that must be renewed, at `nowMs`; `null` when there is none. */
  expiresInMs(nowMs: number): number | null {
    for (const { expiresAtMs } of this.#statements.values()) {
      if (expiresAtMs !== null) return Math.max(0, expiresAtMs - nowMs);
    }
    return null;
  }

  /** Whether the source that pings has fallen silent while another one still holds the lifetime. */
  get heartbeatLost(): boolean {
    return this.heartbeat.lastAtMs !== null && this.expiresInMs(Infinity) === null;
  }

  get facts(): ProcessFacts {
    return { ...this.#named, startedAtSecs: this.#learntStartSecs };
  }

  /** The first value a source gives for `field`, by precedence; `null` when none does. */
  field<K extends 'zmqAddress' | 'group' | 'connector' | 'transferMode' | 'models'>(field: K): Registration[K] {
    for (const source of precedence) {
      const value = this.#statements.get(source)?.registration[field];
      if (value !== undefined && value !== null) return value;
    }
    return null;
  }

  /** Learns a start time read from the engine; `true` when it proves another process. */
  learnStart(startedAtSecs: number): boolean {
    const proof = proofOfNewProcess(this.facts, { ...noFacts, startedAtSecs }) !== null;
    if (!proof) this.#noteStart(startedAtSecs);
    return proof;
  }

  /** Keeps the latest: a source and the engine that differ by seconds must not take turns in proving restarts. */
  #noteStart(startedAtSecs: number): void {
    this.#learntStartSecs = Math.max(this.#learntStartSecs ?? startedAtSecs, startedAtSecs);
  }

  /** Learns an engine id from an answer; `true` when others were seen before and this one was not. */
  learnEngineId(engineId: string): boolean {
    const proof = this.#engineIds.size > 0 && !this.#engineIds.has(engineId);
    if (!proof) this.#engineIds.add(engineId);
    return proof;
  }
}
