import { type Clock } from '../clock.js';
import { type EventSink } from '../events.js';
import { type ConsequencesView } from '../contracts/operation.schema.js';
import { type Fleet } from '../pools/fleet.js';
import { endpointKey } from '../registry/lifetime.js';
import { mergeFacts, noFacts } from '../registry/process-facts.js';
import { type Registration } from '../registry/registration.js';
import { type ServiceRegistry } from '../registry/service-registry.js';
import { type Scheduler } from '../scheduling/scheduler.js';
import { type DrainUntil, type OnDeadline, type Role } from '../words.js';
import { type Worker } from '../workers/worker.js';
import { type KeptEntries } from './kept-entries.js';
import { type DrainIntent, type OperatorStore, type QuarantineEntry } from './operator-store.js';

interface LastSelectable {
  readonly ok: false;
  readonly code: 'last_selectable_worker';
  readonly role: Role;
  readonly model: string | null;
  readonly group: string;
}

export type OperationRefusal =
  | { readonly ok: false; readonly code: 'unknown_worker' | 'unknown_endpoint' | 'store_unavailable' | 'worker_present' | 'not_drained' }
  | { readonly ok: false; readonly code: 'generation_changed'; readonly successorId: string | null }
  | LastSelectable
  | { readonly ok: false; readonly code: 'quarantined'; readonly entry: QuarantineEntry };

export type OperationOutcome<T> = { readonly ok: true; readonly value: T } | OperationRefusal;

export interface DrainWish {
  readonly by: string;
  readonly reason: string | null;
  /** Milliseconds from now; `null` = none. */
  readonly deadlineMs: number | null;
  readonly onDeadline: OnDeadline;
  readonly until: DrainUntil;
  /** Drain even if some model cannot be placed afterwards. */
  readonly force: boolean;
}

export interface EvictWish {
  readonly by: string;
  readonly reason: string;
  /** Milliseconds; 0 = no quarantine, `null` = until readmitted. */
  readonly quarantineMs: number | null;
  readonly abortInflight: boolean;
  readonly force: boolean;
}

/** Stands for every model that only workers with unknown models may serve: no engine can be asked for it by name. */
const unlearntModel = '\0';

interface OperationsDeps {
  readonly clock: Clock;
  readonly registry: ServiceRegistry;
  readonly fleet: Fleet;
  readonly scheduler: Scheduler;
  readonly drains: KeptEntries<DrainIntent>;
  readonly quarantine: KeptEntries<QuarantineEntry>;
  readonly store: Pick<OperatorStore, 'saveAdded' | 'deleteAdded'>;
  readonly emit: EventSink;
  readonly changed: () => void;
}

/**
 * What operators can do to workers. Each is decided and done in one step, after its wish is durable; a refusal has
 * changed nothing.
 */
export class Operations {
  readonly #deps: OperationsDeps;

  constructor(deps: OperationsDeps) {
    this.#deps = deps;
  }

  /** Current worker `id`, or why there is none. */
  find(id: string, ifGeneration?: number): OperationOutcome<Worker> {
    const { fleet } = this.#deps;
    const worker = fleet.byId(id);
    if (worker?.departure === null) {
      if (ifGeneration === undefined || ifGeneration === worker.generation) return { ok: true, value: worker };
      return { ok: false, code: 'generation_changed', successorId: worker.id };
    }
    const past = worker ?? fleet.history.find(id)?.worker;
    if (past === undefined) return { ok: false, code: 'unknown_worker' };
    return { ok: false, code: 'generation_changed', successorId: fleet.byKey(past.lifetime.key)?.id ?? null };
  }

  drain(workers: readonly Worker[], wish: DrainWish): OperationOutcome<readonly Worker[]> {
    const fresh = workers.filter((worker) => worker.adminState === 'ready');
    if (!wish.force) {
      const refusal = this.#wouldStrand(fresh);
      if (refusal !== null) return refusal;
    }
    return this.#durably(() => {
      for (const worker of workers) this.#intend(worker.role, worker.endpoint, wish);
      return workers;
    });
  }

  /** What taking `worker` from new work would mean now; changes nothing. O(models × workers). */
  consequences(worker: Worker): Omit<ConsequencesView, 'action'> {
    const { workers, selectableCount } = this.#deps.fleet.pools[worker.role];
    const refusal = this.#wouldStrand([worker]);
    return {
      leasesNow: worker.load,
      holdsNow: worker.holds.size,
      poolSelectableBefore: selectableCount,
      poolSelectableAfter: selectableCount - (worker.selectable ? 1 : 0),
      poolTotal: workers.length,
      wouldStrand: refusal === null ? null : { role: refusal.role, model: refusal.model, group: refusal.group },
    };
  }

  /** Stores a wish for an endpoint that need not have a worker now. */
  cordon(role: Role, endpoint: string, wish: DrainWish): OperationOutcome<null> {
    return this.#durably(() => {
      this.#intend(role, endpoint, wish);
      return null;
    });
  }

  /** Idempotent; also ends a wish without a worker. */
  undrain(role: Role, endpoint: string, by: string): OperationOutcome<null> {
    const key = endpointKey(role, endpoint);
    return this.#durably(() => {
      if (this.#deps.drains.remove(key) === undefined) return null;
      this.#deps.emit({ type: 'undrain', role, endpoint, ...workerOf(this.#deps.fleet.byKey(key)), actor: by, detail: {} });
      this.#deps.fleet.settle(key);
      this.#deps.changed();
      return null;
    });
  }

  /** Takes the worker out now. Its leases finish, or are aborted when asked. */
  evict(worker: Worker, wish: EvictWish): OperationOutcome<{ readonly inflight: number; readonly quarantine: QuarantineEntry | null }> {
    const { clock, registry, quarantine, scheduler } = this.#deps;
    const gone = this.#gone(worker);
    if (gone !== null) return gone;
    if (!wish.force) {
      const refusal = this.#wouldStrand([worker]);
      if (refusal !== null) return refusal;
    }
    const { role, endpoint, lifetime } = worker;
    const entry: QuarantineEntry | null =
      wish.quarantineMs === 0
        ? null
        : {
            role,
            endpoint,
            sinceMs: clock.wallMs(),
            untilMs: wish.quarantineMs === null ? null : clock.wallMs() + wish.quarantineMs,
            by: wish.by,
            reason: wish.reason,
          };
    return this.#durably(() => {
      if (entry !== null) quarantine.put(entry);
      try {
        if (lifetime.sources.includes('admin')) this.#deps.store.deleteAdded(role, endpoint);
      } catch (error) {
        quarantine.lapse(lifetime.key);
        throw error;
      }
      const inflight = worker.load;
      this.#deps.emit({
        type: 'evict',
        role,
        endpoint,
        worker: worker.id,
        actor: wish.by,
        reason: wish.reason,
        detail: { inflight, abortInflight: wish.abortInflight, quarantineSecs: wish.quarantineMs === null ? -1 : wish.quarantineMs / 1000 },
      });
      registry.evict(lifetime);
      if (wish.abortInflight) scheduler.revoke(worker, 'evicted', true);
      registry.readmitWaiting();
      return { inflight, quarantine: entry };
    });
  }

  /** Ends a quarantine; `false` when there is none. */
  readmit(role: Role, endpoint: string, by: string): OperationOutcome<boolean> {
    return this.#durably(() => {
      if (this.#deps.quarantine.remove(endpointKey(role, endpoint)) === undefined) return false;
      this.#deps.emit({ type: 'readmit', role, endpoint, actor: by, detail: {} });
      this.#deps.registry.readmitWaiting();
      this.#deps.changed();
      return true;
    });
  }

  /** States a worker that no other source states now; it stays when others state it later. */
  add(registration: Registration, by: string): OperationOutcome<Worker> {
    const { fleet, quarantine, registry, store } = this.#deps;
    const key = endpointKey(registration.role, registration.endpoint);
    const entry = quarantine.get(key);
    if (entry !== undefined) return { ok: false, code: 'quarantined', entry };
    registry.expireDue();
    if (fleet.byKey(key) !== undefined) return { ok: false, code: 'worker_present' };
    return this.#durably(() => {
      store.saveAdded(registration);
      try {
        registry.register(registration);
      } catch (error) {
        store.deleteAdded(registration.role, registration.endpoint);
        throw error;
      }
      const worker = fleet.byKey(key);
      if (worker === undefined) throw new Error(`added ${key} but no worker came of it`);
      fleet.statementsChanged(worker);
      const { role, endpoint, id } = worker;
      this.#deps.emit({ type: 'added', role, endpoint, worker: id, actor: by, detail: {} });
      this.#deps.changed();
      return worker;
    });
  }

  /** Evicts without quarantine. Only a drained worker goes without `force`. */
  remove(worker: Worker, by: string, force: boolean): OperationOutcome<null> {
    const gone = this.#gone(worker);
    if (gone !== null) return gone;
    if (worker.adminState !== 'drained' && !force) return { ok: false, code: 'not_drained' };
    const { role, endpoint, lifetime, id } = worker;
    return this.#durably(() => {
      if (lifetime.sources.includes('admin')) this.#deps.store.deleteAdded(role, endpoint);
      this.#deps.emit({ type: 'removed', role, endpoint, worker: id, actor: by, detail: { inflight: worker.load } });
      this.#deps.registry.evict(lifetime);
      this.#deps.registry.readmitWaiting();
      return null;
    });
  }

  /** A worker that was found in an earlier step may have left since; what came after it is not what was meant. */
  #gone(worker: Worker): OperationRefusal | null {
    if (worker.departure === null) return null;
    return { ok: false, code: 'generation_changed', successorId: this.#deps.fleet.byKey(worker.lifetime.key)?.id ?? null };
  }

  /**
   * Whether taking `workers` away would leave some model unplaceable that can be placed now; names the role whose
   * last selectable worker would go. Costs O(models × workers).
   */
  #wouldStrand(workers: readonly Worker[]): LastSelectable | null {
    const going = new Set(workers.filter((worker) => worker.selectable));
    if (going.size === 0) return null;
    const { fleet, scheduler } = this.#deps;
    const models = new Set<string>();
    for (const worker of fleet.workers()) for (const model of worker.models ?? [unlearntModel]) models.add(model);
    for (const model of models) {
      if (!scheduler.canPlace(model) || scheduler.canPlaceWithout(model, going)) continue;
      const serving = [...going].filter((worker) => worker.serves(model));
      const last = serving.find((worker) => !scheduler.canPlaceWithout(model, new Set([worker]))) ?? serving[0];
      if (last === undefined) continue;
      const named = model === unlearntModel ? null : model;
      return { ok: false, code: 'last_selectable_worker', role: last.role, model: named, group: last.group };
    }
    return null;
  }

  #intend(role: Role, endpoint: string, wish: DrainWish): void {
    const { clock, drains, fleet, registry } = this.#deps;
    const key = endpointKey(role, endpoint);
    const before = drains.get(key);
    const nowMs = clock.wallMs();
    const deadlineAtMs = wish.deadlineMs === null ? null : nowMs + wish.deadlineMs;
    if (
      before?.until === wish.until &&
      before.reason === wish.reason &&
      before.onDeadline === wish.onDeadline &&
      wish.deadlineMs === null &&
      before.deadlineAtMs === null
    ) {
      return;
    }
    drains.put({
      role,
      endpoint,
      sinceMs: before?.sinceMs ?? nowMs,
      by: wish.by,
      reason: wish.reason,
      until: wish.until,
      deadlineAtMs,
      onDeadline: wish.onDeadline,
      overdue: false,
      facts: mergeFacts(before?.facts ?? noFacts, registry.knownFacts(key)),
    });
    this.#deps.emit({
      type: 'drain',
      role,
      endpoint,
      ...workerOf(fleet.byKey(key)),
      actor: wish.by,
      ...(wish.reason === null ? {} : { reason: wish.reason }),
      detail: { until: wish.until, deadlineSecs: wish.deadlineMs === null ? null : wish.deadlineMs / 1000, forced: wish.force },
    });
    fleet.settle(key);
    this.#deps.changed();
  }

  #durably<T>(act: () => T): OperationOutcome<T> {
    try {
      return { ok: true, value: act() };
    } catch (error) {
      if (error instanceof StoreUnavailableError) return { ok: false, code: 'store_unavailable' };
      throw error;
    }
  }
}

/** What an `OperatorStore` throws when a write cannot be made durable. */
export class StoreUnavailableError extends Error {
  constructor(cause: unknown) {
    super('the store cannot be written', { cause });
    this.name = 'StoreUnavailableError';
  }
}

function workerOf(worker: Worker | undefined): { worker: string } | Record<string, never> {
  return worker === undefined ? {} : { worker: worker.id };
}

