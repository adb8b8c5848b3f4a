import { type ReserveResult } from '../scheduling/scheduler-port.js';
import { type Phase, type Role } from '../words.js';
import { outcome, prefixKey } from './cluster-kit.contract-suite.js';
import { handoffMaxAgeMs, type Known, type LiveGrant, same } from './model-books.contract-suite.js';
import { DiscoveryModel } from './model-discovery.contract-suite.js';

/** What placements, phases and ends must do. */
export class RequestModel extends DiscoveryModel {
  protected reserve(shape: 'generation' | 'single', n: number): void {
    const { kit } = this;
    const model = [null, 'm', 'm', 'n', 'm', null, 'unknown'][n % 7] ?? null;
    const exclude = n >= 13 ? [...this.current()].slice(0, n - 12).map(({ worker }) => worker.id) : [];
    this.expireAll();
    const requestKey = kit.open(model);
    const print = (): string => JSON.stringify([...kit.cluster.fleet.workers()].map(({ id, load, pressure, turn, processed }) => [id, load, pressure, turn, processed]));
    const claimsBefore = this.claims.length;
    // Whatever is over goes first, as it would in the transaction, so that only the transaction itself is compared.
    kit.cluster.registry.expireDue();
    const before = print();
    const result = kit.reserve({ requestKey, model, shape, exclude, prefixKey: prefixKey(n % 5, 1 + (n % 7)), sessionKey: n % 2 === 0 ? `s${n}` : null });
    const can = (role: Role): Known[] => [...this.current(role)].filter((known) => this.selectable(known) && this.serves(known, model) && !exclude.includes(known.worker.id));
    const [prefills, decodes, regulars] = [can('prefill'), can('decode'), can('regular')];
    const paired = prefills.some((prefill) => decodes.some((decode) => this.pairs(prefill, decode)));
    const single = shape === 'generation' ? regulars : ([regulars, decodes, prefills].find((list) => list.length > 0) ?? []);
    const expected = shape === 'generation' && paired ? 'pair' : single.length > 0 ? 'single' : 'unavailable';
    same('reserve', result.kind, expected);
    if (result.kind === 'unavailable') {
      const all = [...this.current()];
      const absent = model !== null && all.length > 0 && all.every((known) => !this.serves(known, model));
      same('cause', result.cause, absent ? 'model_not_found' : 'no_available_workers');
      same('no trace in workers', print(), before);
      same('no trace in policies', this.claims.length, claimsBefore);
      same('no trace in receipts', kit.cluster.scheduler.requests.get(requestKey)?.attempts.length, 0);
      kit.close(requestKey);
      return;
    }
    this.granted(result, requestKey, model, { prefills, decodes, single });
  }

  protected granted(result: Exclude<ReserveResult, { kind: 'unavailable' }>, requestKey: number, model: string | null, from: { prefills: Known[]; decodes: Known[]; single: Known[] }): void {
    const pick = (id: string, among: Known[]): Known => {
      const known = among.find(({ worker }) => worker.id === id);
      if (known === undefined) throw new Error(`${id} was placed on but may not be`);
      return known;
    };
    const grant: LiveGrant = {
      id: result.grantId,
      requestKey,
      model,
      prefill: result.kind === 'pair' ? pick(result.prefill.workerId, from.prefills) : null,
      early: result.kind === 'pair' && result.decode !== null,
      decode: result.kind === 'single' ? pick(result.worker.workerId, from.single) : result.decode === null ? null : pick(result.decode.workerId, from.decodes),
      lease: null,
      kvOut: false,
      bound: false,
      state: result.kind === 'pair' ? 'prefill' : 'single',
      handoffAtMs: 0,
      claims: {},
      abandoned: false,
    };
    if (grant.early && !this.pairs(grant.prefill!, grant.decode!)) throw new Error('a pair of two groups');
    this.grants.push(grant);
    if (grant.early) {
      grant.bound = true;
      grant.decode!.bound += 1;
      grant.claims.decode = this.claims.at(-1)!;
    }
    grant.claims[grant.state === 'single' ? 'single' : 'prefill'] = this.claims.at(grant.early ? -2 : -1)!;
    this.lease(grant, grant.prefill ?? grant.decode!);
  }

  protected lease(grant: LiveGrant, known: Known): void {
    grant.lease = known;
    known.load += 1;
    known.begun += 1;
  }

  protected endLease(grant: LiveGrant, result: 'succeeded' | 'failed' | 'cancelled'): void {
    if (grant.lease === null) return;
    grant.lease.load -= 1;
    grant.lease.ended[result] += 1;
    grant.lease = null;
  }

  protected endKvOut(grant: LiveGrant): void {
    if (grant.kvOut) grant.prefill!.kvOut -= 1;
    grant.kvOut = false;
  }

  protected settle(grant: LiveGrant, phase: Phase, how: 'confirmed' | 'withdrawn'): void {
    const claim = grant.claims[phase];
    if (claim === undefined) return;
    same(`claim of ${phase}`, claim.ended, how);
    grant.claims = { ...grant.claims, [phase]: undefined };
  }

  protected prefillDone(grant: LiveGrant | undefined, tellsEngineId: boolean, n: number): void {
    if (grant === undefined) return;
    const prefill = grant.prefill!;
    const engine = this.engineOf(prefill.worker);
    const { key } = prefill.worker.lifetime;
    const current = this.kit.find('prefill', prefill.worker.endpoint) === prefill.worker;
    this.kit.prefillDone(grant.id, { engineId: tellsEngineId ? engine.engineId : null, connector: n === 0 ? 'nixl' : null });
    this.endLease(grant, 'succeeded');
    grant.kvOut = true;
    prefill.kvOut += 1;
    grant.state = 'handoff';
    grant.handoffAtMs = this.kit.nowMs;
    this.settle(grant, 'prefill', 'confirmed');
    const lifetime = this.lifetimes.get(key);
    if (!current || !tellsEngineId || lifetime === undefined) return;
    if (lifetime.engineId !== null && lifetime.engineId !== engine.engineId) this.proven(key, lifetime, { engineId: engine.engineId });
    else lifetime.engineId = engine.engineId;
  }

  protected beginDecode(grant: LiveGrant | undefined, n: number, undelivered: boolean): void {
    if (grant === undefined) return;
    const { kit } = this;
    const fault = n % 2 === 0 ? 'connect_refused' : 'connect_timeout';
    const claimsBefore = this.claims.length;
    this.expireAll();
    kit.cluster.registry.expireDue();
    const failed = undelivered ? [grant.decode!.worker.id] : [];
    const begun = kit.cluster.scheduler.beginDecode(grant.id, failed, undelivered ? outcome('failed', { phase: 'decode', fault }) : undefined);
    if (undelivered) {
      const decode = grant.decode!;
      this.endLease(grant, 'failed');
      if (fault === 'connect_refused' && this.isCurrent(decode)) decode.suspectedAtMs = kit.nowMs;
      this.settle(grant, 'decode', 'withdrawn');
      grant.state = 'handoff';
      if (!grant.early) grant.decode = null;
    }
    const tooOld = kit.nowMs - grant.handoffAtMs > handoffMaxAgeMs;
    const gone = !this.isCurrent(grant.prefill!);
    const candidates = [...this.current('decode')].filter(
      (known) => this.selectable(known) && this.serves(known, grant.model) && this.pairs(grant.prefill!, known) && !failed.includes(known.worker.id),
    );
    const bindable = grant.early ? grant.bound && this.isCurrent(grant.decode!) : candidates.length > 0;
    const expected = gone || tooOld || (grant.early && !bindable) ? 'stale' : bindable ? 'decode' : 'unavailable';
    same('begin decode', begun.kind, expected);
    if (begun.kind !== 'decode') { same('no trace in policies', this.claims.length, claimsBefore); return; }
    const decode = grant.early ? grant.decode! : candidates.find(({ worker }) => worker.id === begun.decode.workerId);
    if (decode === undefined) throw new Error(`${begun.decode.workerId} decodes but may not`);
    same('decode', begun.decode.workerId, decode.worker.id);
    grant.decode = decode;
    if (grant.bound) decode.bound -= 1;
    else grant.claims.decode = this.claims.at(-1)!;
    grant.bound = false;
    grant.state = 'decode';
    this.lease(grant, decode);
  }

  protected end(grant: LiveGrant | undefined, result: 'succeeded' | 'failed' | 'cancelled', fault: 'reset' | null): void {
    if (grant === undefined) return;
    const phase = grant.state === 'handoff' ? 'decode' : grant.state;
    const over = { phase, fault, status: null } as const;
    const runsOn = phase === 'prefill' ? grant.prefill : grant.decode;
    this.kit.end(grant.id, result, over);
    this.kit.end(grant.id, 'succeeded', over);
    if (fault !== null && runsOn !== null && this.isCurrent(runsOn)) runsOn.suspectedAtMs = this.kit.nowMs;
    this.released(grant, result, phase);
    if (!grant.abandoned) this.kit.close(grant.requestKey);
  }

  protected released(grant: LiveGrant, result: 'succeeded' | 'failed' | 'cancelled', phase: Phase): void {
    this.endLease(grant, result);
    this.endKvOut(grant);
    if (grant.bound) grant.decode!.bound -= 1;
    for (const each of ['prefill', 'decode', 'single'] as const) this.settle(grant, each, result === 'succeeded' && each === phase ? 'confirmed' : 'withdrawn');
    this.grants.splice(this.grants.indexOf(grant), 1);
  }

  protected sweep(): void {
    const leaksBefore = this.kit.leaks.length;
    this.kit.cluster.scheduler.sweepLedger();
    const abandoned = this.grants.filter((grant) => grant.abandoned);
    same('leaks', [...this.kit.leaks.slice(leaksBefore)].sort(), abandoned.map(({ id }) => id).sort());
    for (const grant of abandoned) this.released(grant, 'cancelled', grant.state === 'handoff' ? 'decode' : grant.state);
    for (const grant of this.grants) if (grant.state === 'handoff' && this.kit.nowMs - grant.handoffAtMs > handoffMaxAgeMs) this.endKvOut(grant);
  }
}
