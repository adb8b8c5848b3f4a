import { type Clock } from '../clock.js';
import { type EventSink } from '../events.js';
import { type DrainIntent } from '../operators/operator-store.js';
import { type KeptEntries } from '../operators/kept-entries.js';
import { type Policy } from '../policies/policy.js';
import { type EndpointKey, endpointKey, type Lifetime } from '../registry/lifetime.js';
import { mergeFacts, type ProcessFacts, proofOfNewProcess } from '../registry/process-facts.js';
import { type LeaveReason, type LifetimeListener } from '../registry/service-registry.js';
import { type Role, roles } from '../words.js';
import { worksForOthers } from '../workers/engine-load.js';
import { Worker, type WorkerOptions } from '../workers/worker.js';
import { LifetimeHistory } from './lifetime-history.js';
import { RolePool } from './role-pool.js';

interface FleetDeps {
  readonly clock: Clock;
  readonly options: WorkerOptions;
  readonly policies: Readonly<Record<Role, Policy<Worker>>>;
  readonly drains: KeptEntries<DrainIntent>;
  readonly emit: EventSink;
  /** Called in the step in which a worker leaves its pool, before anything else can happen. */
  readonly departed: (worker: Worker) => void;
  /** Called when something a viewer sees has changed. */
  readonly changed: () => void;
}

/**
 * All workers: the pools, the departed ones that still have work, and the past. It listens to the registry, so pools
 * and policies change in the very step in which a lifetime begins or ends: no snapshot of either can be stale.
 */
export class Fleet implements LifetimeListener {
  readonly pools: Readonly<Record<Role, RolePool>>;
  readonly history = new LifetimeHistory();
  readonly #deps: FleetDeps;
  readonly #byKey = new Map<EndpointKey, Worker>();
  readonly #byId = new Map<string, Worker>();
  readonly #departed = new Set<Worker>();
  readonly #selectableListeners = new Set<() => void>();
  #selectionVersion = 0;

  constructor(deps: FleetDeps) {
    this.#deps = deps;
    this.pools = {
      prefill: new RolePool('prefill', deps.policies.prefill),
      decode: new RolePool('decode', deps.policies.decode),
      regular: new RolePool('regular', deps.policies.regular),
    };
  }

  /** Grows with every change that can change which workers a request may run on. */
  get selectionVersion(): number {
    return this.#selectionVersion;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Current workers, pool by pool. */
  *workers(): Iterable<Worker> {
    for (const role of roles) yield* this.pools[role].workers;
  }

  /** Departed workers that still have leases or holds. */
  get departedWorkers(): Iterable<Worker> {
    return this.#departed;
  }

  byKey(key: EndpointKey): Worker | undefined {
    return this.#byKey.get(key);
  }

  /** A current or departed worker. */
  byId(id: string): Worker | undefined {
    return this.#byId.get(id);
  }

  /** Departed workers of (role, endpoint) with work left, whose engine process may still be running. */
  unfinishedAt(key: EndpointKey): Worker[] {
    return [...this.#departed].filter(({ lifetime, departure }) => lifetime.key === key && departure?.processGone === false);
  }

  /** Calls `listener` when some worker has become selectable; returns a cancel. */
  onSelectable(listener: () => void): () => void {
    this.#selectableListeners.add(listener);
    return () => this.#selectableListeners.delete(listener);
  }

  began(lifetime: Lifetime, how: { readonly replaces: number | null; readonly provenNewProcess: boolean }): void {
    const { clock, emit, options } = this.#deps;
    const worker = new Worker(lifetime, clock.wallMs(), options);
    this.#byKey.set(lifetime.key, worker);
    this.#byId.set(worker.id, worker);
    const { role, endpoint } = worker;
    emit({
      type: how.replaces === null ? 'registered' : 'replaced',
      role,
      endpoint,
      worker: worker.id,
      detail: {
        sources: lifetime.sources.join(','),
        replaces: how.replaces === null ? null : `${role}-${String(how.replaces)}`,
        zmqAddress: worker.zmqAddress,
      },
    });
    // Before it joins, so that one whose drain goes on is never selectable.
    this.learnProcess(worker, how.provenNewProcess);
    this.pools[worker.role].add(worker);
    this.#selectionChanged(worker.selectable);
    this.#deps.changed();
  }

  ended(lifetime: Lifetime, reason: LeaveReason, proof: string | null): void {
    const worker = this.#byKey.get(lifetime.key);
    if (worker?.lifetime !== lifetime) return;
    const atMs = this.#deps.clock.wallMs();
    worker.departure = { atMs, reason, processGone: proof !== null };
    this.#byKey.delete(lifetime.key);
    this.pools[worker.role].remove(worker);
    this.history.add(lifetime.key, {
      id: worker.id,
      generation: worker.generation,
      registeredAtMs: worker.registeredAtMs,
      leftAtMs: atMs,
      reason,
      worker,
    });
    if (worker.idle) this.#byId.delete(worker.id);
    else this.#departed.add(worker);
    this.#selectionChanged(false);
    this.#deps.departed(worker);
    if (reason === 'expired' || reason === 'withdrawn') {
      this.#deps.emit({
        type: reason === 'expired' ? 'expired' : 'departed',
        role: worker.role,
        endpoint: worker.endpoint,
        worker: worker.id,
        reason,
        detail: { leases: worker.load, holds: worker.holds.size },
      });
    }
    this.#deps.changed();
  }

  heartbeatLost(lifetime: Lifetime): void {
    const worker = this.#byKey.get(lifetime.key);
    if (worker === undefined) return;
    this.statementsChanged(worker);
    const { role, endpoint, id } = worker;
    this.#deps.emit({ type: 'late', role, endpoint, worker: id, reason: 'heartbeat lost', detail: { sources: lifetime.sources.join(',') } });
  }

  /** Takes over what the sources of `worker` state now. */
  statementsChanged(worker: Worker): void {
    if (worker.readStatements()) this.identityChanged(worker);
    this.learnProcess(worker, false);
  }

  /**
   * Draws the consequences of what is known of the engine process of `worker`: a drain that ends with a restart ends
   * by a proof, and unfinished work of earlier processes at the endpoint is known to be gone.
   */
  learnProcess(worker: Worker, provenNew: boolean): void {
    const { key, facts } = worker.lifetime;
    for (const departed of this.unfinishedAt(key)) {
      if (provenNew || proofOfNewProcess(departed.lifetime.facts, facts) !== null) this.#processGone(departed);
    }
    const intent = this.#deps.drains.get(key);
    if (intent !== undefined) {
      const proven = provenNew || proofOfNewProcess(intent.facts, facts) !== null;
      if (proven && intent.until === 'restart') {
        this.#deps.drains.lapse(key);
        const { role, endpoint, id } = worker;
        this.#deps.emit({ type: 'undrain', role, endpoint, worker: id, reason: 'a new engine process has come', detail: {} });
      } else {
        this.#keepFacts(intent, proven ? facts : mergeFacts(intent.facts, facts));
      }
    }
    this.settle(key);
  }

  /** Brings the admin state of the worker at `key` in line with its drain intent and the work that is left. */
  settle(key: EndpointKey): void {
    const worker = this.#byKey.get(key);
    if (worker === undefined) return;
    const before = worker.adminState;
    if (this.#deps.drains.get(key) === undefined) worker.setAdminState('ready');
    else worker.setAdminState(worker.idle && this.unfinishedAt(key).length === 0 ? 'drained' : 'draining');
    if (worker.adminState === before) return;
    this.refresh(worker);
    if (worker.adminState === 'drained') {
      const { role, endpoint, id } = worker;
      this.#deps.emit({ type: 'drained', role, endpoint, worker: id, detail: { safeToStop: this.safeToStop(worker) } });
    }
  }

  /** Whether the machine may be stopped as far as this router knows, and the engine does not say otherwise (lifecycle rule 14). */
  safeToStop(worker: Worker): boolean {
    if (worker.adminState !== 'drained') return false;
    const nowMs = this.#deps.clock.monotonicMs();
    return roles.every((role) => {
      const key = endpointKey(role, worker.endpoint);
      return this.vacant(key) && !worksForOthers(this.#byKey.get(key)?.engineLoad ?? null, nowMs);
    });
  }

  /** Leases on the engine at `endpoint`, whatever the role, on earlier generations too. */
  loadAt(endpoint: string): number {
    return roles.reduce((sum, role) => {
      const key = endpointKey(role, endpoint);
      const earlier = this.unfinishedAt(key).reduce((leases, { load }) => leases + load, 0);
      return sum + earlier + (this.#byKey.get(key)?.load ?? 0);
    }, 0);
  }

  /** Whether nothing new comes to (role, endpoint) and nothing old is left there, on earlier generations either. */
  vacant(key: EndpointKey): boolean {
    const worker = this.#byKey.get(key);
    return (worker === undefined || worker.adminState === 'drained') && this.unfinishedAt(key).length === 0;
  }

  /**
   * Whether a drain of `worker` has nothing left to wait for (lifecycle rule 14): it is drained, or it left and what
   * was under way there has ended or is proven gone with its process.
   */
  finished(worker: Worker): boolean {
    return worker.departure === null ? worker.adminState === 'drained' : this.unfinishedAt(worker.lifetime.key).length === 0;
  }

  /** Notes that the selectability of a worker may have changed; cheap when it has not. */
  refresh(worker: Worker): void {
    if (worker.departure !== null) return;
    // Of one that takes no work the reason may have changed, which candidate lists keep as well.
    if (this.pools[worker.role].refresh(worker) || !worker.selectable) this.#selectionChanged(worker.selectable);
    this.#deps.changed();
  }

  /** Notes that the group, models, addresses or connector of a worker have changed. */
  identityChanged(worker: Worker): void {
    this.pools[worker.role].openModels(worker);
    this.#selectionChanged(worker.selectable);
    this.refresh(worker);
  }

  /** Notes that a lease or hold on `worker` has ended. */
  workEnded(worker: Worker): void {
    if (worker.departure !== null && worker.idle && this.#departed.delete(worker)) {
      this.#byId.delete(worker.id);
      this.settle(worker.lifetime.key);
    } else if (worker.adminState === 'draining' && worker.idle) {
      this.settle(worker.lifetime.key);
    }
  }

  #processGone(worker: Worker): void {
    if (worker.departure !== null) worker.departure = { ...worker.departure, processGone: true };
  }

  #keepFacts(intent: DrainIntent, facts: ProcessFacts): void {
    const { zmqAddress, instance, startedAtSecs } = intent.facts;
    if (facts.zmqAddress === zmqAddress && facts.instance === instance && facts.startedAtSecs === startedAtSecs) return;
    try {
      this.#deps.drains.put({ ...intent, facts });
    } catch {
      // The intent itself is kept; only what was learnt since is not durable yet, and is learnt again.
    }
  }

  #selectionChanged(becameSelectable: boolean): void {
    this.#selectionVersion += 1;
    if (!becameSelectable) return;
    const listeners = [...this.#selectableListeners];
    this.#selectableListeners.clear();
    for (const listener of listeners) listener();
  }
}
