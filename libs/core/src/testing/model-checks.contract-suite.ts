import { endpointKey } from '../registry/lifetime.js';
import { type Role, roles } from '../words.js';
import { type Known, models, same } from './model-books.contract-suite.js';
import { RequestModel } from './model-requests.contract-suite.js';
import { type WatchedPolicy } from './watched-policy.contract-suite.js';

/** What must hold after every step. */
export class CheckedModel extends RequestModel {
  protected check(selectableBefore: ReadonlySet<Known>, turnsAside: boolean): void {
    const { fleet, drains, quarantine } = this.kit.cluster;
    const current = [...fleet.workers()];
    same('workers', current.map(({ lifetime }) => lifetime.key).sort(), [...this.lifetimes.keys()].sort());
    for (const [key, lifetime] of this.lifetimes) same(`sources of ${key}`, [...(fleet.byKey(key)?.lifetime.sources ?? [])].sort(), [...lifetime.statements.keys()].sort());
    same('quarantine', quarantine.list().map(({ role, endpoint }) => endpointKey(role, endpoint)).sort(), [...this.quarantine.keys()].sort());
    this.checkDrains();
    for (const known of this.known.values()) this.checkWorker(known);
    const departed = [...this.known.values()].filter((known) => known.worker.departure !== null && known.load + known.bound + known.kvOut > 0);
    same('departed', [...fleet.departedWorkers].map(({ id }) => id).sort(), departed.map(({ worker }) => worker.id).sort());
    same('drains in the store', [...this.kit.store.drains.keys()].sort(), drains.list().map(({ role, endpoint }) => endpointKey(role, endpoint)).sort());
    for (const role of roles) this.checkPool(role, selectableBefore, turnsAside);
    this.checkRevocations();
    for (const known of [...this.known.values()]) if (known.worker.departure !== null && known.worker.idle && !this.grants.some(({ prefill, decode }) => prefill === known || decode === known)) this.known.delete(known.worker);
  }

  protected checkDrains(): void {
    for (const [key, intent] of this.drains) {
      if (this.kit.cluster.drains.get(key) !== undefined) continue;
      const engine = this.engines.find(({ endpoint }) => key.endsWith(endpoint))!;
      if (intent.until === 'undrain' || engine.restarts === intent.restarts) throw new Error(`the drain of ${key} ended without a proof`);
      this.drains.delete(key);
    }
    same('drains', this.kit.cluster.drains.list().map(({ role, endpoint }) => endpointKey(role, endpoint)).sort(), [...this.drains.keys()].sort());
  }

  protected checkWorker(known: Known): void {
    const { worker, load, bound, kvOut, begun, ended } = known;
    const { id } = worker;
    same(`${id} load`, [worker.load, worker.boundHolds, worker.kvOutHolds, worker.pressure], [load, bound, kvOut, load + bound]);
    same(`${id} counts`, [worker.processed, { ...worker.ended }], [begun, ended]);
    same(`${id} sum`, worker.processed, worker.ended.succeeded + worker.ended.failed + worker.ended.cancelled + worker.load);
    if (load < 0 || bound < 0 || kvOut < 0) throw new Error(`${id} holds less than nothing`);
    const { departure } = worker;
    if (departure !== null) {
      if (departure.processGone && this.engineOf(worker).restarts === known.restartsAtStart) throw new Error(`${id} is said to be gone, but nothing restarted`);
      return;
    }
    same(`${id} selectable`, worker.selectable, this.selectable(known));
    same(`${id} reasons`, worker.unselectableBecause.length === 0, worker.selectable);
    const unfinished = [...this.known.values()].filter((other) => other.worker.departure?.processGone === false && other.worker.lifetime.key === worker.lifetime.key && other.load + other.bound + other.kvOut > 0);
    const drained = load + bound + kvOut === 0 && unfinished.length === 0;
    same(`${id} admin state`, worker.adminState, this.drains.has(worker.lifetime.key) ? (drained ? 'drained' : 'draining') : 'ready');
  }

  protected checkPool(role: Role, selectableBefore: ReadonlySet<Known>, turnsAside: boolean): void {
    const pool = this.kit.cluster.fleet.pools[role];
    const policy = pool.policy as WatchedPolicy;
    same(`${role} members`, [...policy.members].map(({ id }) => id), pool.workers.map(({ id }) => id));
    const selectable = [...this.current(role)].filter(({ worker }) => worker.selectable);
    same(`${role} selectable`, pool.selectableCount, selectable.length);
    const standing = selectable.filter((known) => selectableBefore.has(known)).map(({ worker }) => worker.turn);
    if (!turnsAside && standing.length > 0) {
      for (const known of selectable) {
        if (!selectableBefore.has(known) && known.worker.turn < Math.min(...standing)) throw new Error(`${known.worker.id} came with turn ${known.worker.turn} behind ${Math.min(...standing)}`);
      }
    }
    const index = policy.inner.affinity;
    if (index === undefined) return;
    const live = new Set(pool.workers.map(({ id }) => id));
    for (const model of ['', ...models]) {
      for (const node of index.cacheTree(model, 20, 200)) for (const id of node.workers) if (!live.has(id)) throw new Error(`${id} owns a prefix but is gone`);
    }
    for (const { worker } of this.known.values()) if (worker.role === role && worker.departure !== null) same(`${worker.id} covers`, index.coveredBytes(worker), 0);
  }

  /** Whoever has something on a worker that left was told so. */
  protected checkRevocations(): void {
    for (const { grantId, workerId } of this.kit.revocations.splice(0)) this.revoked.add(`${grantId} ${workerId}`);
    for (const { id, lease, prefill, decode, kvOut, bound } of this.grants) {
      for (const known of [lease, kvOut ? prefill : null, bound ? decode : null]) {
        if (known?.worker.departure != null && !this.revoked.has(`${id} ${known.worker.id}`)) throw new Error(`grant ${id} was not told that ${known.worker.id} left`);
      }
    }
  }
}
