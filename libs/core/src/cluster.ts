import { type Clock } from './clock.js';
import { type EventSink } from './events.js';
import { KeptEntries } from './operators/kept-entries.js';
import { Operations } from './operators/operations.js';
import { type DrainIntent, type OperatorState, type OperatorStore, type QuarantineEntry } from './operators/operator-store.js';
import { type Policy } from './policies/policy.js';
import { Fleet } from './pools/fleet.js';
import { ListeningClock } from './registry/listening-clock.js';
import { endpointKey } from './registry/lifetime.js';
import { type Registration } from './registry/registration.js';
import { type RegisterOutcome, ServiceRegistry } from './registry/service-registry.js';
import { Scheduler, type SchedulerObserver } from './scheduling/scheduler.js';
import { type Heartbeat, type Role, type SourceKind } from './words.js';
import { engineLoad, type EngineLoadReading } from './workers/engine-load.js';
import { type Worker, type WorkerOptions } from './workers/worker.js';

export interface ClusterDeps {
  readonly clock: Clock;
  /** Next generation number; throws when none can be had durably. */
  readonly nextGeneration: () => number;
  readonly store: OperatorStore;
  readonly state: OperatorState;
  readonly policies: Readonly<Record<Role, Policy<Worker>>>;
  readonly workers: WorkerOptions;
  readonly handoffMaxAgeMs: number;
  /** How long an engine keeps KV that nobody fetches. */
  readonly engineKvLeaseMs: number;
  readonly emit: EventSink;
  readonly observer: Pick<SchedulerObserver, 'placed' | 'attemptEnded' | 'leaked' | 'requestClosed'>;
}

/** What one probe round found; `null` = not learnt. */
export interface ProbeReport {
  /** Monotonic milliseconds at which the round left. */
  readonly startedAtMs: number;
  readonly healthy: boolean;
  /** Nobody listens at the endpoint: suspicion of a restart (lifecycle rule 2). */
  readonly refused: boolean;
  readonly version: string | null;
  readonly models: readonly string[] | null;
  /** Unix seconds. */
  readonly startedAtSecs: number | null;
}

export interface ProbeTarget {
  readonly workerId: string;
  readonly endpoint: string;
  /** A round is all that keeps it from work. */
  readonly urgent: boolean;
  /** Somebody waits for it to be safe to stop, on which its engine has a say. */
  readonly leaving: boolean;
}

/** The whole domain, wired: discovery states, the app ticks, the data plane places, operators act, viewers look. */
export class Cluster {
  readonly listeningClock = new ListeningClock();
  readonly registry: ServiceRegistry;
  readonly fleet: Fleet;
  readonly scheduler: Scheduler;
  readonly operations: Operations;
  readonly drains: KeptEntries<DrainIntent>;
  readonly quarantine: KeptEntries<QuarantineEntry>;
  readonly clock: Clock;
  readonly #deps: ClusterDeps;
  readonly #heartbeats = new WeakMap<Worker, Heartbeat>();
  #seq = 0;

  constructor(deps: ClusterDeps) {
    const { clock, emit, store, state } = deps;
    this.#deps = deps;
    this.clock = clock;
    const changed = (): void => {
      this.#seq += 1;
    };
    this.drains = new KeptEntries(
      { save: (intent) => store.saveDrain(intent), delete: (role, endpoint) => store.deleteDrain(role, endpoint) },
      state.drains,
    );
    this.quarantine = new KeptEntries(
      { save: (entry) => store.saveQuarantine(entry), delete: (role, endpoint) => store.deleteQuarantine(role, endpoint) },
      state.quarantine,
    );
    this.fleet = new Fleet({
      clock,
      options: deps.workers,
      policies: deps.policies,
      drains: this.drains,
      emit,
      departed: (worker) => this.scheduler.revoke(worker, 'departed', false),
      changed,
    });
    this.registry = new ServiceRegistry({
      clock: this.listeningClock,
      nextGeneration: deps.nextGeneration,
      isQuarantined: (key) => this.quarantine.get(key) !== undefined,
      listener: this.fleet,
    });
    this.scheduler = new Scheduler({
      clock,
      registry: this.registry,
      fleet: this.fleet,
      handoffMaxAgeMs: deps.handoffMaxAgeMs,
      engineKvLeaseMs: deps.engineKvLeaseMs,
      observer: {
        placed: (phase, policy, reason) => deps.observer.placed(phase, policy, reason),
        attemptEnded: (grant, outcome) => deps.observer.attemptEnded(grant, outcome),
        leaked: (grant) => deps.observer.leaked(grant),
        requestClosed: (record) => deps.observer.requestClosed(record),
        suspected: (worker, fault) => this.#healthEvent(worker, `restart check: ${fault}`),
        changed,
      },
    });
    this.operations = new Operations({
      clock,
      registry: this.registry,
      fleet: this.fleet,
      scheduler: this.scheduler,
      drains: this.drains,
      quarantine: this.quarantine,
      store,
      emit,
      changed,
    });
    for (const registration of state.added) this.register(registration);
  }

  /** One number for everything a viewer can see; grows with each change. */
  get seq(): number {
    return this.#seq;
  }

  /** Numbers a change that time alone has made; returns the new `seq`. */
  advanceSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  register(registration: Registration): RegisterOutcome {
    const outcome = this.registry.register(registration);
    if (outcome.kind === 'quarantined') return outcome;
    const worker = this.fleet.byKey(outcome.lifetime.key);
    if (worker === undefined) throw new Error(`${outcome.lifetime.key} was registered without a worker`);
    if (registration.ttlMs !== null) worker.lastHeartbeatAtMs = this.#deps.clock.wallMs();
    if (outcome.kind === 'heartbeat') this.fleet.statementsChanged(worker);
    this.#seq += 1;
    return outcome;
  }

  withdraw(role: Role, endpoint: string, source: SourceKind): void {
    this.registry.withdraw(role, endpoint, source);
    const worker = this.fleet.byKey(endpointKey(role, endpoint));
    if (worker !== undefined) this.fleet.statementsChanged(worker);
    this.#seq += 1;
  }

  /** Called every 250 ms, after everything already heard was handed in (lifecycle rule 17). */
  tick(): void {
    this.listeningClock.tick(this.#deps.clock.monotonicMs());
    this.registry.expireDue();
    const wallMs = this.#deps.clock.wallMs();
    for (const { role, endpoint, untilMs } of this.quarantine.list()) {
      if (untilMs !== null && untilMs <= wallMs) this.quarantine.lapse(endpointKey(role, endpoint));
    }
    this.registry.readmitWaiting();
    this.drains.flushLapsed();
    this.quarantine.flushLapsed();
    for (const intent of this.drains.list()) this.#checkDeadline(intent, wallMs);
    for (const worker of this.fleet.workers()) this.#watchHeartbeat(worker);
  }

  /** Current workers as the prober needs them. */
  get probeTargets(): ProbeTarget[] {
    return [...this.fleet.workers()].map((worker) => ({
      workerId: worker.id,
      endpoint: worker.endpoint,
      urgent: worker.health.gated || worker.health.restartCheck,
      leaving: worker.adminState !== 'ready',
    }));
  }

  /** Takes a finished round. What it tells of the process comes first: it may not be the one that was asked about. */
  probed(workerId: string, report: ProbeReport): void {
    const worker = this.fleet.byId(workerId);
    if (worker?.departure !== null) return;
    if (report.startedAtSecs !== null) {
      if (this.registry.reportStart(worker.lifetime, report.startedAtSecs) === 'replaced') return;
      this.fleet.learnProcess(worker, false);
    }
    if (worker.learn(report)) this.fleet.identityChanged(worker);
    const before = worker.health.state;
    const effect = worker.health.probed(report);
    if (report.refused && !worker.health.gated) worker.health.suspectRestart(this.clock.monotonicMs());
    if (effect === 'recovered') this.fleet.pools[worker.role].policy.forget(worker);
    this.fleet.refresh(worker);
    if (worker.health.state !== before) this.#healthEvent(worker, healthReason(report, effect));
  }

  /** Takes what the engine of a worker tells of its own load. */
  engineReported(workerId: string, reading: EngineLoadReading): void {
    const worker = this.fleet.byId(workerId);
    if (worker?.departure !== null) return;
    worker.engineLoad = engineLoad(reading, this.fleet.loadAt(worker.endpoint), this.clock.monotonicMs());
    this.#seq += 1;
  }

  /** State of the pings of `worker`, on the listening clock. */
  heartbeatOf(worker: Worker): Heartbeat {
    const { lifetime } = worker;
    return lifetime.heartbeat.state(this.listeningClock.nowMs, lifetime.heartbeatLost);
  }

  #watchHeartbeat(worker: Worker): void {
    const before = this.#heartbeats.get(worker);
    const now = this.heartbeatOf(worker);
    if (before === now) return;
    this.#heartbeats.set(worker, now);
    this.#seq += 1;
    if (now !== 'late') return;
    const { role, endpoint, id, lifetime } = worker;
    const ageMs = this.listeningClock.nowMs - (lifetime.heartbeat.lastAtMs ?? 0);
    this.#deps.emit({ type: 'late', role, endpoint, worker: id, detail: { heartbeatAgeMs: ageMs } });
  }

  #checkDeadline(intent: DrainIntent, wallMs: number): void {
    if (intent.overdue || intent.deadlineAtMs === null || intent.deadlineAtMs > wallMs) return;
    const key = endpointKey(intent.role, intent.endpoint);
    const worker = this.fleet.byKey(key);
    const unfinished = [...this.fleet.unfinishedAt(key), ...(worker === undefined ? [] : [worker])].filter(({ idle }) => !idle);
    if (unfinished.length === 0) return;
    try {
      this.drains.put({ ...intent, overdue: true });
    } catch {
      // Not durable now: said again at the next tick, when the store may take it.
      return;
    }
    const { role, endpoint, onDeadline } = intent;
    const leases = unfinished.reduce((sum, { load }) => sum + load, 0);
    this.#deps.emit({ type: 'overdue', role, endpoint, ...(worker === undefined ? {} : { worker: worker.id }), detail: { leases, onDeadline } });
    this.#seq += 1;
    if (onDeadline === 'abort') for (const late of unfinished) this.scheduler.revoke(late, 'drain_deadline', true);
  }

  #healthEvent(worker: Worker, reason: string | null): void {
    const { role, endpoint, id, health } = worker;
    this.#deps.emit({ type: 'health', role, endpoint, worker: id, ...(reason === null ? {} : { reason }), detail: { health: health.state } });
  }
}

function healthReason({ refused }: ProbeReport, effect: 'recovered' | 'counted'): string | null {
  if (effect === 'recovered') return 'no proof of a restart';
  return refused ? 'restart check: connect_refused' : null;
}
