import { type EndpointKey, endpointKey } from '../registry/lifetime.js';
import { type Role } from '../words.js';
import { registration } from './cluster-kit.contract-suite.js';
import { type Engine, facts, type Known, type Lifetime, ModelBooks, same, ttlMs } from './model-books.contract-suite.js';

/** What statements, silence, probes and restarts must do. */
export class DiscoveryModel extends ModelBooks {
  /** The engine states what the bits of `n` say. */
  protected ping(key: EndpointKey, engine: Engine, n: number): void {
    this.register(key, engine, 'zmq', Object.fromEntries(facts.filter((_fact, bit) => (n & (1 << bit)) !== 0).map((fact) => [fact, engine[fact]])));
  }

  protected register(key: EndpointKey, engine: Engine, source: 'zmq' | 'static' | 'kubernetes', stated: object): void {
    const role = key.split('|')[0] as Role;
    const before = this.kit.find(role, engine.endpoint);
    const result = this.kit.cluster.register(registration(role, engine.endpoint, { source, group: engine.label, ttlMs: source === 'zmq' ? ttlMs : null, ...stated }));
    const expected = this.believe(key, engine, source, stated);
    same(`${source} of ${key}`, result.kind, expected);
    if (expected === 'heartbeat') same('kept', this.kit.find(role, engine.endpoint), before);
    if (expected === 'replaced' && this.drains.get(key)?.until === 'restart') this.drains.delete(key);
  }

  /** What a statement must do; the model's own books are changed accordingly. */
  protected believe(key: EndpointKey, engine: Engine, source: string, stated: { zmqAddress?: string; instance?: string; startedAtSecs?: number }): 'new' | 'heartbeat' | 'replaced' | 'quarantined' {
    this.expire(key);
    if (this.quarantine.has(key)) {
      if (source !== 'zmq') this.wait(key, source);
      return 'quarantined';
    }
    const expiresAtMs = source === 'zmq' ? this.listeningMs + ttlMs : null;
    const current = this.lifetimes.get(key);
    const differs =
      current !== undefined &&
      ((current.heard.zmqAddress !== null && stated.zmqAddress !== undefined && current.heard.zmqAddress !== stated.zmqAddress) ||
        (current.heard.instance !== null && stated.instance !== undefined && current.heard.instance !== stated.instance) ||
        (current.startedAtSecs !== null && stated.startedAtSecs !== undefined && stated.startedAtSecs > current.startedAtSecs + 2));
    if (current !== undefined && !differs) {
      current.statements.set(source, expiresAtMs);
      current.heard.zmqAddress = stated.zmqAddress ?? current.heard.zmqAddress;
      current.heard.instance = stated.instance ?? current.heard.instance;
      if (stated.startedAtSecs !== undefined) current.startedAtSecs = Math.max(current.startedAtSecs ?? 0, stated.startedAtSecs);
      return 'heartbeat';
    }
    const statements = this.restated(current);
    for (const waiting of this.waiting.get(key) ?? []) statements.set(waiting, null);
    this.waiting.delete(key);
    statements.set(source, expiresAtMs);
    this.lifetimes.set(key, {
      statements,
      heard: { zmqAddress: stated.zmqAddress ?? null, instance: stated.instance ?? null },
      startedAtSecs: stated.startedAtSecs ?? null,
      engineId: null,
    });
    return current === undefined ? 'new' : 'replaced';
  }

  /** The statements of a lifetime that a proof ended, as they hold the next one. */
  protected restated(ended: Lifetime | undefined): Map<string, number | null> {
    return new Map(ended?.statements);
  }

  protected proven(key: EndpointKey, lifetime: Lifetime, next: Partial<Lifetime>): void {
    this.lifetimes.set(key, {
      statements: this.restated(lifetime),
      heard: { zmqAddress: null, instance: null },
      startedAtSecs: null,
      engineId: null,
      ...next,
    });
    if (this.drains.get(key)?.until === 'restart') this.drains.delete(key);
  }

  protected wait(key: EndpointKey, source: string): void {
    this.waiting.set(key, (this.waiting.get(key) ?? new Set<string>()).add(source));
  }

  /** An operator's word ends the lifetime; what is stated for good waits, save what an operator had added. */
  protected leave(key: EndpointKey): void {
    for (const [source, expiresAtMs] of this.lifetimes.get(key)?.statements ?? []) {
      if (expiresAtMs === null && source !== 'admin') this.wait(key, source);
    }
    this.added.delete(key);
    this.lifetimes.delete(key);
    this.readmitWaiting();
  }

  protected readmitWaiting(): void {
    for (const [key, sources] of this.waiting) {
      if (this.quarantine.has(key) || this.lifetimes.has(key) || sources.size === 0) continue;
      this.waiting.delete(key);
      this.lifetimes.set(key, { statements: new Map([...sources].map((source) => [source, null])), heard: { zmqAddress: null, instance: null }, startedAtSecs: null, engineId: null });
    }
  }

  protected expire(key: EndpointKey): void {
    const lifetime = this.lifetimes.get(key);
    if (lifetime === undefined) return;
    for (const [source, expiresAtMs] of lifetime.statements) {
      if (expiresAtMs !== null && expiresAtMs <= this.listeningMs) lifetime.statements.delete(source);
    }
    if (lifetime.statements.size === 0) this.lifetimes.delete(key);
  }

  protected expireAll(): void {
    for (const key of [...this.lifetimes.keys()]) this.expire(key);
  }

  protected listen(): void {
    this.listeningMs += Math.min(500, this.kit.nowMs - this.lastTickMs);
    this.lastTickMs = this.kit.nowMs;
  }

  protected tick(ms: number): void {
    this.kit.nowMs += ms;
    this.kit.cluster.tick();
    this.listen();
    this.ticked();
  }

  protected ticked(): void {
    this.expireAll();
    for (const [key, untilMs] of this.quarantine) if (untilMs !== null && untilMs <= this.kit.nowMs) this.quarantine.delete(key);
    this.readmitWaiting();
    const { fleet, drains } = this.kit.cluster;
    for (const { role, endpoint, deadlineAtMs, overdue } of drains.list()) {
      const key = endpointKey(role, endpoint);
      const passed = deadlineAtMs !== null && deadlineAtMs <= 1_700_000_000_000 + this.kit.nowMs;
      const busy = [...fleet.unfinishedAt(key), fleet.byKey(key)].some((worker) => worker?.idle === false);
      if (passed && busy) same(`${key} overdue`, overdue, true);
      if (!passed) same(`${key} overdue`, overdue, false);
    }
  }

  protected probe(known: Known, engine: Engine, key: EndpointKey, n: number, healthy: boolean, agoMs: number): void {
    const report = {
      startedAtMs: this.kit.nowMs - agoMs,
      healthy,
      version: (n & 1) !== 0 ? engine.version : null,
      models: (n & 2) !== 0 ? ((n & 8) !== 0 ? ['m'] : ['m', 'n']) : null,
      startedAtSecs: (n & 4) !== 0 ? engine.startedAtSecs : null,
    };
    this.kit.probe(known.worker, report);
    const lifetime = this.lifetimes.get(key)!;
    if (report.startedAtSecs !== null) {
      if (lifetime.startedAtSecs !== null && report.startedAtSecs > lifetime.startedAtSecs + 2) {
        this.proven(key, lifetime, { startedAtSecs: report.startedAtSecs }); return;
      }
      lifetime.startedAtSecs = Math.max(lifetime.startedAtSecs ?? 0, report.startedAtSecs);
    }
    known.version = report.version ?? known.version;
    known.models = report.models ?? known.models;
    if (!healthy) {
      known.failures += 1;
      if (known.failures >= 3 && !known.gated) known.unhealthy = true;
      return;
    }
    known.failures = 0;
    known.gated = false;
    known.unhealthy = false;
    if (known.suspectedAtMs !== null && report.startedAtMs >= known.suspectedAtMs) known.suspectedAtMs = null;
  }

  protected restart(): void {
    const { kit } = this;
    this.lifetimes.clear();
    this.waiting.clear();
    this.known.clear();
    this.grants.length = 0;
    this.claims.length = 0;
    this.revoked.clear();
    kit.restart();
    this.listeningMs = 0;
    this.lastTickMs = kit.nowMs;
    for (const key of this.added) this.believe(key, this.engines[0]!, 'admin', {});
    this.ticked();
  }
}
