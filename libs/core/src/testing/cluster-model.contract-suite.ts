import { endpointKey } from '../registry/lifetime.js';
import { type Role } from '../words.js';
import { drainWish, registration } from './cluster-kit.contract-suite.js';
import { CheckedModel } from './model-checks.contract-suite.js';
import { type LiveGrant, same } from './model-books.contract-suite.js';

export const operationKinds = [
  'join', 'ping', 'all ping', 'restart engine', 'state', 'withdraw', 'time', 'stall', 'time unseen', 'probe', 'late probe', 'reserve', 'prefill done',
  'begin decode', 'undelivered', 'first byte', 'end', 'vanish', 'sweep', 'drain', 'undrain', 'evict', 'readmit', 'add', 'remove',
  'switch policy', 'restart router',
] as const;
export type OperationKind = (typeof operationKinds)[number];

/** One step of a random history; each kind reads of the numbers what it needs. */
export interface Operation {
  readonly kind: OperationKind;
  /** Endpoint, 0..3. */
  readonly at: number;
  readonly role: Role;
  readonly n: number;
  readonly flag: boolean;
}

/**
 * A naive second opinion on the cluster: does each operation to both and throws where they differ, or where something
 * that must always hold does not.
 */
export class ClusterModel extends CheckedModel {
  do(operation: Operation): void {
    const selectableBefore = new Set([...this.current()].filter(({ worker }) => worker.selectable));
    this.act(operation);
    this.discover();
    this.check(selectableBefore, operation.kind === 'restart router');
  }

  /** Ends all requests; afterwards nothing may be left anywhere. */
  finish(): void {
    for (const grant of [...this.grants]) this.end(grant, 'cancelled', null);
    this.sweep();
    this.check(new Set(), true);
    const left = [...this.known.values()].filter(({ worker }) => !worker.idle || worker.pressure !== 0);
    same('workers with work', left.map(({ worker }) => worker.id), []);
    same('departed workers', [...this.kit.cluster.fleet.departedWorkers], []);
    same('open claims', this.claims.filter(({ ended }) => ended === null).length, 0);
  }

  protected act({ kind, at, role, n, flag }: Operation): void {
    const { kit } = this;
    const engine = this.engines[at]!;
    const { endpoint } = engine;
    const key = endpointKey(role, endpoint);
    const { operations } = kit.cluster;
    const among = (...states: readonly LiveGrant['state'][]): LiveGrant | undefined => {
      const grants = this.grants.filter(({ state }) => states.length === 0 || states.includes(state));
      return grants[n % Math.max(1, grants.length)];
    };
    const worker = kit.find(role, endpoint);
    switch (kind) {
      case 'ping':
        this.ping(key, engine, n);
        return;
      case 'join': {
        this.ping(key, engine, n);
        this.discover();
        const joined = kit.find(role, endpoint);
        if (joined !== undefined) this.probe(this.known.get(joined)!, engine, key, n, true, 0);
        return;
      }
      case 'all ping':
        for (const { worker: each } of [...this.current()]) {
          if (each.lifetime.sources.includes('zmq')) this.ping(each.lifetime.key, this.engineOf(each), n);
        }
        return;
      case 'restart engine': {
        if ((n & 1) !== 0) engine.zmqAddress += '+';
        if ((n & 2) !== 0) engine.instance += '+';
        if ((n & 4) !== 0) engine.startedAtSecs += 3;
        if ((n & 8) !== 0) engine.engineId += '+';
        if (n !== 0) engine.restarts += 1;
        if (flag) engine.version = `${n % 3}`;
        return;
      }
      case 'state':
        this.register(key, engine, flag ? 'static' : 'kubernetes', {});
        return;
      case 'withdraw': {
        const source = flag ? 'static' : 'kubernetes';
        kit.cluster.withdraw(role, endpoint, source);
        this.waiting.get(key)?.delete(source);
        const lifetime = this.lifetimes.get(key);
        if (lifetime?.statements.delete(source) === true && lifetime.statements.size === 0) this.lifetimes.delete(key);
        return;
      }
      case 'time':
        for (let step = 0; step <= n; step += 1) this.tick(250);
        return;
      case 'stall':
        this.tick(30_000);
        return;
      case 'time unseen':
        for (let step = 0; step <= n; step += 1) {
          kit.nowMs += 400;
          kit.cluster.listeningClock.tick(kit.nowMs);
          this.listen();
        }
        return;
      case 'probe':
      case 'late probe': {
        const known = worker === undefined ? undefined : this.known.get(worker);
        if (known !== undefined) this.probe(known, engine, key, n, flag, kind === 'late probe' ? 500 : 0);
        return;
      }
      case 'reserve':
        this.reserve(flag ? 'generation' : 'single', n);
        return;
      case 'prefill done':
        this.prefillDone(among('prefill'), flag, n);
        return;
      case 'begin decode':
        this.beginDecode(among('handoff'), n, false);
        return;
      case 'undelivered':
        this.beginDecode(among('decode'), n, true);
        return;
      case 'first byte': {
        const grant = among('prefill', 'decode', 'single');
        if (grant === undefined || grant.state === 'handoff') return;
        kit.firstByte(grant.id, grant.state);
        this.settle(grant, grant.state, 'confirmed');
        if (grant.state !== 'prefill') this.endKvOut(grant);
        return;
      }
      case 'end':
        this.end(among(), (['succeeded', 'failed', 'cancelled'] as const)[n % 3]!, n % 3 === 1 && flag ? 'reset' : null);
        return;
      case 'vanish': {
        const grant = among();
        if (grant === undefined || grant.abandoned) return;
        kit.close(grant.requestKey);
        grant.abandoned = true;
        return;
      }
      case 'sweep':
        this.sweep();
        return;
      case 'drain': {
        if (worker === undefined) return;
        kit.store.failing = n === 0;
        const result = operations.drain([worker], drainWish({ until: flag ? 'undrain' : 'restart', deadlineMs: n === 1 ? 1_000 : null, onDeadline: 'abort' }));
        kit.store.failing = false;
        if (result.ok) this.drains.set(key, { until: flag ? 'undrain' : 'restart', restarts: this.drains.get(key)?.restarts ?? this.known.get(worker)!.restartsAtStart });
        return;
      }
      case 'undrain': {
        kit.store.failing = n === 0;
        if (operations.undrain(role, endpoint, 'ops').ok) this.drains.delete(key);
        kit.store.failing = false;
        return;
      }
      case 'evict': {
        if (worker === undefined) return;
        const quarantineMs = [0, 500, 5_000, null][n % 4] ?? null;
        const result = kit.evict(worker, { quarantineMs, abortInflight: flag });
        same('evicted', result.ok, true);
        if (quarantineMs !== 0) this.quarantine.set(key, quarantineMs === null ? null : kit.nowMs + quarantineMs);
        this.leave(key);
        return;
      }
      case 'readmit': {
        const result = operations.readmit(role, endpoint, 'ops');
        same('readmitted', result, { ok: true, value: this.quarantine.delete(key) });
        this.readmitWaiting();
        return;
      }
      case 'add': {
        const result = operations.add(registration(role, endpoint, { source: 'admin', group: engine.label }), 'ops');
        const refused = this.quarantine.has(key) || this.lifetimes.has(key);
        same('added', result.ok, !refused);
        if (refused) return;
        this.added.add(key);
        this.believe(key, engine, 'admin', {});
        return;
      }
      case 'remove': {
        if (worker === undefined) return;
        const result = operations.remove(worker, 'ops', flag);
        same('removed', result.ok, flag || worker.adminState === 'drained');
        if (result.ok) this.leave(key);
        return;
      }
      case 'switch policy': {
        const policy = kit.policy((['cache_aware', 'least_load', 'round_robin', 'power_of_two', 'sticky_least_loaded', 'rendezvous_hash'] as const)[n % 6]);
        kit.cluster.fleet.pools[role].setPolicy(policy); return;
      }
      case 'restart router':
        this.restart();
        return;
    }
  }
}
