import { Cluster, type ProbeReport } from '../cluster.js';
import { type LifecycleEvent } from '../events.js';
import { type DrainWish, type EvictWish, StoreUnavailableError } from '../operators/operations.js';
import { type DrainIntent, type OperatorState, type OperatorStore, type QuarantineEntry } from '../operators/operator-store.js';
import { type AffinityStatistics } from '../policies/affinity-statistics.js';
import { createPolicy } from '../policies/create-policy.js';
import { defaultPolicyOptions, type PolicyOptions } from '../policies/policy-options.js';
import { type Policy } from '../policies/policy.js';
import { emptyPrefixKey, type PrefixKey } from '../prompt/prefix-key.js';
import { GenerationCounter } from '../registry/generation-counter.js';
import { type EndpointKey, endpointKey } from '../registry/lifetime.js';
import { type Registration } from '../registry/registration.js';
import {
  type AttemptOutcome,
  type GrantId,
  type HandoffFacts,
  type PairGrant,
  type ReserveRequest,
  type ReserveResult,
  type Revocation,
  type SingleGrant,
} from '../scheduling/scheduler-port.js';
import { type ConnectorFlag, type LeaseResult, type Phase, type PolicyName, type Role } from '../words.js';
import { type HealthOptions } from '../workers/health.js';
import { type Worker } from '../workers/worker.js';

const tickMs = 250;
const noTimings = { prefillMs: null, handoffMs: null, firstByteMs: null };

/** Keeps operator entries in maps, as a database would; `failing` makes every write throw. */
export class MemoryStore implements OperatorStore {
  readonly drains = new Map<EndpointKey, DrainIntent>();
  readonly quarantine = new Map<EndpointKey, QuarantineEntry>();
  readonly added = new Map<EndpointKey, Registration>();
  generationCeiling = 1;
  failing = false;

  get state(): OperatorState {
    return { drains: [...this.drains.values()], quarantine: [...this.quarantine.values()], added: [...this.added.values()] };
  }

  saveDrain(intent: DrainIntent): void {
    this.#write(() => this.drains.set(endpointKey(intent.role, intent.endpoint), intent));
  }

  deleteDrain(role: Role, endpoint: string): void {
    this.#write(() => this.drains.delete(endpointKey(role, endpoint)));
  }

  saveQuarantine(entry: QuarantineEntry): void {
    this.#write(() => this.quarantine.set(endpointKey(entry.role, entry.endpoint), entry));
  }

  deleteQuarantine(role: Role, endpoint: string): void {
    this.#write(() => this.quarantine.delete(endpointKey(role, endpoint)));
  }

  saveAdded(registration: Registration): void {
    this.#write(() => this.added.set(endpointKey(registration.role, registration.endpoint), registration));
  }

  deleteAdded(role: Role, endpoint: string): void {
    this.#write(() => this.added.delete(endpointKey(role, endpoint)));
  }

  reserveGenerations(ceiling: number): void {
    this.#write(() => (this.generationCeiling = ceiling));
  }

  #write(write: () => unknown): void {
    if (this.failing) throw new StoreUnavailableError(new Error('disk full'));
    write();
  }
}

export interface KitOptions {
  readonly policy?: PolicyName;
  readonly decodePolicy?: PolicyName;
  readonly policyOptions?: Partial<PolicyOptions>;
  /** Wraps each policy, to watch what is asked of it. */
  readonly wrap?: (policy: Policy<Worker>) => Policy<Worker>;
  readonly health?: Partial<HealthOptions>;
  readonly connector?: ConnectorFlag;
  readonly handoffMaxAgeMs?: number;
  /** Generation numbers taken from the store at a time. */
  readonly generationStep?: number;
}

/** A cluster with a clock, a store and engines in the test's hand. Connector `nixl`, so decode is chosen late, unless asked otherwise. */
export class ClusterKit {
  readonly store = new MemoryStore();
  readonly events: LifecycleEvent[] = [];
  readonly revocations: Revocation[] = [];
  readonly leaks: number[] = [];
  readonly outcomes: AttemptOutcome[] = [];
  readonly handoffMaxAgeMs: number;
  nowMs = 1_000;
  cluster: Cluster;
  readonly #options: KitOptions;
  #nextRequestKey = 1;
  #seed = 1;

  constructor(options: KitOptions = {}) {
    this.#options = options;
    this.handoffMaxAgeMs = options.handoffMaxAgeMs ?? 20_000;
    this.cluster = this.#start();
  }

  /** The router goes and comes back with what its store holds; engines do not notice. */
  restart(): void {
    this.revocations.length = 0;
    this.cluster = this.#start();
  }

  #start(): Cluster {
    const { health, connector, generationStep } = this.#options;
    const counter = new GenerationCounter(this.store.generationCeiling, (ceiling) => this.store.reserveGenerations(ceiling), generationStep);
    const cluster = new Cluster({
      clock: { monotonicMs: () => this.nowMs, wallMs: () => 1_700_000_000_000 + this.nowMs },
      nextGeneration: () => counter.next(),
      store: this.store,
      state: this.store.state,
      policies: { prefill: this.policy(), decode: this.policy(this.#options.decodePolicy), regular: this.policy() },
      workers: { health: { failureThreshold: 3, successThreshold: 1, gate: true, ...health }, connector: connector ?? 'nixl' },
      handoffMaxAgeMs: this.handoffMaxAgeMs,
      engineKvLeaseMs: 30_000,
      emit: (event) => this.events.push(event),
      observer: {
        placed: () => undefined,
        attemptEnded: (_grant, outcome) => this.outcomes.push(outcome),
        leaked: (grant) => this.leaks.push(grant.id),
        requestClosed: () => undefined,
      },
    });
    cluster.scheduler.onRevoked((revocation) => this.revocations.push(revocation));
    cluster.tick();
    return cluster;
  }

  /** A policy of its own for one role, watched as asked. */
  policy(name: PolicyName = this.#options.policy ?? 'least_load'): Policy<Worker> {
    const { policyOptions, wrap } = this.#options;
    const policy = createPolicy<Worker>(name, {
      random: () => this.random(),
      nowMs: () => this.nowMs,
      options: { ...defaultPolicyOptions, ...policyOptions },
    });
    return wrap === undefined ? policy : wrap(policy);
  }

  /** Uniform in [0, 1), the same in every run. */
  random(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }

  /** Takes a ping, unless `over` says that something else states it. */
  register(role: Role, endpoint: string, over: Partial<Registration> = {}): Worker | null {
    const outcome = this.cluster.register(registration(role, endpoint, over));
    return outcome.kind === 'quarantined' ? null : this.worker(role, endpoint);
  }

  /** Registers and sees one good round: selectable unless something else forbids it. */
  join(role: Role, endpoint: string, over: Partial<Registration> = {}, probe: Partial<ProbeReport> = {}): Worker {
    const worker = this.register(role, endpoint, over);
    if (worker === null) throw new Error(`${endpoint} is quarantined`);
    this.probe(worker, probe);
    return this.worker(role, endpoint);
  }

  probe(worker: Worker, report: Partial<ProbeReport> = {}): void {
    this.cluster.probed(worker.id, { startedAtMs: this.nowMs, healthy: true, refused: false, version: null, models: null, startedAtSecs: null, ...report });
  }

  /** The current worker; throws when there is none. */
  worker(role: Role, endpoint: string): Worker {
    const worker = this.find(role, endpoint);
    if (worker === undefined) throw new Error(`no ${role} worker at ${endpoint}`);
    return worker;
  }

  find(role: Role, endpoint: string): Worker | undefined {
    return this.cluster.fleet.byKey(endpointKey(role, endpoint));
  }

  /** Time passes, heard tick by tick; nobody pings. */
  advance(ms: number): void {
    for (let left = ms; left > 0; left -= tickMs) {
      this.nowMs += Math.min(left, tickMs);
      this.cluster.tick();
    }
  }

  /** Opens a request; returns its key. */
  open(model: string | null = null): number {
    const requestKey = this.#nextRequestKey++;
    this.cluster.scheduler.openRequest({ requestKey, requestId: `req-${requestKey}`, route: '/v1/chat/completions', model, stream: true });
    return requestKey;
  }

  close(requestKey: number): void {
    this.cluster.scheduler.closeRequest(requestKey, { status: 200, outcome: 'ok', usage: null, reportedCachedTokens: null });
  }

  reserve(over: Partial<ReserveRequest> = {}): ReserveResult {
    const model = over.model ?? null;
    return this.cluster.scheduler.reserve({
      requestKey: over.requestKey ?? this.open(model),
      model,
      shape: 'generation',
      prefixKey: emptyPrefixKey,
      sessionKey: null,
      exclude: [],
      failedPairs: [],
      ...over,
    });
  }

  reservePair(over: Partial<ReserveRequest> = {}): PairGrant {
    const result = this.reserve(over);
    if (result.kind !== 'pair') throw new Error(`no pair but ${JSON.stringify(result)}`);
    return result;
  }

  reserveSingle(over: Partial<ReserveRequest> = {}): SingleGrant {
    const result = this.reserve({ shape: 'single', ...over });
    if (result.kind !== 'single') throw new Error(`no single worker but ${JSON.stringify(result)}`);
    return result;
  }

  prefillDone(grantId: GrantId, handoff: Partial<HandoffFacts> = {}): void {
    this.cluster.scheduler.prefillDone(grantId, { connector: null, engineId: null, ...handoff });
  }

  /** Begins decode; returns the worker's id, or throws what stood against it. */
  beginDecode(grantId: GrantId, exclude: readonly string[] = []): string {
    const begun = this.cluster.scheduler.beginDecode(grantId, exclude);
    if (begun.kind !== 'decode') throw new Error(`no decode but ${JSON.stringify(begun)}`);
    return begun.decode.workerId;
  }

  firstByte(grantId: GrantId, phase: Phase): void {
    this.cluster.scheduler.firstByte(grantId, phase);
  }

  end(grantId: GrantId, result: LeaseResult, over: Partial<AttemptOutcome> = {}): void {
    this.cluster.scheduler.end(grantId, outcome(result, over));
  }

  drain(worker: Worker, wish: Partial<DrainWish> = {}): ReturnType<Cluster['operations']['drain']> {
    return this.cluster.operations.drain([worker], drainWish(wish));
  }

  evict(worker: Worker, wish: Partial<EvictWish> = {}): ReturnType<Cluster['operations']['evict']> {
    return this.cluster.operations.evict(worker, { by: 'ops', reason: 'test', quarantineMs: 300_000, abortInflight: false, force: true, ...wish });
  }

  eventsOf(type: LifecycleEvent['type']): LifecycleEvent[] {
    return this.events.filter((event) => event.type === type);
  }
}

export function registration(role: Role, endpoint: string, over: Partial<Registration> = {}): Registration {
  return {
    source: 'zmq',
    role,
    endpoint,
    zmqAddress: null,
    instance: null,
    group: null,
    connector: null,
    transferMode: null,
    startedAtSecs: null,
    models: null,
    ttlMs: over.source === undefined || over.source === 'zmq' ? 10_000 : null,
    ...over,
  };
}

export function drainWish(over: Partial<DrainWish> = {}): DrainWish {
  return { by: 'ops', reason: null, deadlineMs: null, onDeadline: 'flag', until: 'restart', force: true, ...over };
}

export function outcome(result: LeaseResult, over: Partial<AttemptOutcome> = {}): AttemptOutcome {
  return { phase: 'single', result, status: result === 'succeeded' ? 200 : null, fault: null, timings: noTimings, ...over };
}

/** What `policy`, which must be a cache-aware one, believes of the engines' caches. */
export function affinityOf({ name, affinity }: Policy<Worker>): AffinityStatistics<Worker> {
  if (affinity === undefined) throw new Error(`${name} has no prefix index`);
  return affinity;
}

/** A key of `blocks` blocks of 64 bytes; keys of one `name` share all blocks that both have. */
export function prefixKey(name: number, blocks = 8): PrefixKey {
  const at = (block: number): number => block + 1;
  return {
    count: blocks,
    lo: Uint32Array.from({ length: blocks }, (_, block) => Math.imul(name + 1, 0x9e37_79b1) ^ Math.imul(at(block), 0x85eb_ca6b)),
    hi: Uint32Array.from({ length: blocks }, (_, block) => Math.imul(name + 7, 0xc2b2_ae35) + at(block)),
    ends: Float64Array.from({ length: blocks }, (_, block) => at(block) * 64),
  };
}
