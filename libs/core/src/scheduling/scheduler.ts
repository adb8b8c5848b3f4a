import { type Clock } from '../clock.js';
import { type PolicyChoice, type CandidateScores, type PolicyRequest } from '../policies/policy.js';
import { type Fleet } from '../pools/fleet.js';
import { type RolePool } from '../pools/role-pool.js';
import { keyedBytes } from '../prompt/prefix-key.js';
import { type ServiceRegistry } from '../registry/service-registry.js';
import { type Phase } from '../words.js';
import { type Worker } from '../workers/worker.js';
import { canGenerate, Candidates, type ModelCandidates } from './candidates.js';
import { Failures, failuresOf } from './failures.js';
import { Grant } from './grant.js';
import { Handoffs } from './handoffs.js';
import { neverReachedEngine } from './never-reached-engine.js';
import { AttemptReceipt, ReceiptStorage } from './receipt.js';
import { RequestLog, type RequestRecord } from './request-log.js';
import {
  type AttemptOutcome,
  type BeginDecodeResult,
  type FailedPair,
  type GrantId,
  type HandoffFacts,
  type OpenRequest,
  type PlacedWorker,
  type PoolCounts,
  type RequestClose,
  type RequestKey,
  type ReserveRequest,
  type ReserveResult,
  type Revocation,
  type Unavailable,
} from './scheduler-port.js';

interface SchedulerDeps {
  readonly clock: Clock;
  readonly registry: ServiceRegistry;
  readonly fleet: Fleet;
  readonly handoffMaxAgeMs: number;
  /** How long an engine keeps KV that nobody fetches. */
  readonly engineKvLeaseMs: number;
  readonly observer: SchedulerObserver;
}

/** Told of what the scheduler does, inside the step; must be cheap. */
export interface SchedulerObserver {
  placed(phase: Phase, policy: string, reason: string): void;
  /** The engine behind `worker` refused a connection or reset one in flight. */
  suspected(worker: Worker, fault: string): void;
  attemptEnded(grant: Grant, outcome: AttemptOutcome): void;
  /** A lease or hold outlived its request and was released by the ledger sweep. */
  leaked(grant: Grant): void;
  /** A request left, answered or not. */
  requestClosed(record: RequestRecord): void;
  changed(): void;
}

type Choice = PolicyChoice<Worker> & { readonly scores: CandidateScores<Worker> | null };

/**
 * Places requests and owns their grants (lifecycle rules 5–13, 16). Every method is one synchronous step: nothing can
 * come between reading the pools and holding the lease.
 */
export class Scheduler {
  readonly requests: RequestLog;
  readonly handoffs: Handoffs;
  readonly #deps: SchedulerDeps;
  readonly #candidates: Candidates;
  readonly #grants = new Map<GrantId, Grant>();
  readonly #revocationListeners = new Set<(revocation: Revocation) => void>();
  readonly #receiptStorage = new ReceiptStorage();
  #nextGrantId = 1;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#candidates = new Candidates(deps.fleet);
    this.handoffs = new Handoffs(deps.clock, deps.engineKvLeaseMs);
    this.requests = new RequestLog(({ attempts }) => {
      for (const receipt of attempts) this.#receiptStorage.giveBack(receipt);
    });
  }

  /** Age at which a hand-off is not sent any more. */
  get handoffMaxAgeMs(): number {
    return this.#deps.handoffMaxAgeMs;
  }

  openRequest(request: OpenRequest): void {
    const { clock } = this.#deps;
    this.requests.open(request, clock.wallMs(), clock.monotonicMs());
    this.#deps.observer.changed();
  }

  closeRequest(requestKey: RequestKey, close: RequestClose): void {
    const record = this.requests.close(requestKey, close, this.#deps.clock.monotonicMs());
    if (record !== undefined) this.#deps.observer.requestClosed(record);
    this.#deps.observer.changed();
  }

  onRevoked(listener: (revocation: Revocation) => void): void {
    this.#revocationListeners.add(listener);
  }

  /**
   * One placement transaction. Refuses with `unavailable` and without any trace in policies, counters or receipts when
   * a required pool has nobody. Throws for a request that is not open: its grant would have no owner.
   */
  reserve(request: ReserveRequest): ReserveResult {
    const { registry, fleet, clock } = this.#deps;
    const record = this.requests.get(request.requestKey);
    if (record === undefined) throw new Error(`reserve for request ${String(request.requestKey)}, which is not open`);
    registry.expireDue();

    const failures = failuresOf(fleet, request.exclude, request.failedPairs);
    const generation = request.shape === 'generation';
    let candidates = this.#candidates.without(request.model, failures);
    if (generation && request.failedPairs.length > 0 && !canGenerate(candidates)) candidates = this.#candidates.repaired(request.model, failures);
    const policyRequest: PolicyRequest = { model: request.model ?? '', prefixKey: request.prefixKey, sessionKey: request.sessionKey };

    if (generation && candidates.prefill.length > 0) {
      const prefill = select(fleet.pools.prefill, candidates.prefill, policyRequest);
      const prefillReceipt = this.#receipt('prefill', prefill, fleet.pools.prefill, candidates, candidates.prefill);
      let decode: Choice | null = null;
      let decodeReceipt: AttemptReceipt | null = null;
      if (prefill.worker.bindsEarly) {
        const partners = candidates.decodeFor(prefill.worker);
        decode = select(fleet.pools.decode, partners, policyRequest);
        decodeReceipt = this.#receipt('decode', decode, fleet.pools.decode, candidates, partners);
      }
      const grant = this.#grant(record, policyRequest, request.failedPairs, { prefill: prefill.worker, decode: decode?.worker ?? null, early: decode !== null });
      const nowMs = clock.monotonicMs();
      this.#pick(grant, 'prefill', fleet.pools.prefill, prefill, prefillReceipt);
      grant.beginLease(prefill.worker, 'prefill', nowMs);
      record.prefillId = prefill.worker.id;
      record.decodeId = decode?.worker.id ?? null;
      if (decode !== null && decodeReceipt !== null) {
        this.#pick(grant, 'decode', fleet.pools.decode, decode, decodeReceipt);
        grant.beginHold(decode.worker, 'bound', nowMs);
      }
      this.#deps.observer.changed();
      return {
        kind: 'pair',
        grantId: grant.id,
        prefill: placed(prefill.worker, prefill),
        decode: decode === null ? null : placed(decode.worker, decode),
      };
    }

    const singles = generation ? candidates.regular : candidates.singles.find((list) => list.length > 0);
    const [first] = singles ?? [];
    if (singles === undefined || first === undefined) return this.#unavailable(request, failures);
    const pool = fleet.pools[first.role];
    const choice = select(pool, singles, policyRequest);
    const receipt = this.#receipt('single', choice, pool, candidates, singles);
    const grant = this.#grant(record, policyRequest, request.failedPairs, { prefill: null, decode: choice.worker, early: false });
    this.#pick(grant, 'single', pool, choice, receipt);
    grant.beginLease(choice.worker, 'single', clock.monotonicMs());
    record.prefillId = null;
    record.decodeId = null;
    record.singleId = choice.worker.id;
    this.#deps.observer.changed();
    return { kind: 'single', grantId: grant.id, worker: placed(choice.worker, choice) };
  }

  /** Ends prefill well; the hold on its KV begins before the lease ends, so the worker is never seen idle between. */
  prefillDone(grantId: GrantId, handoff: HandoffFacts): void {
    const grant = this.#grants.get(grantId);
    if (grant?.state !== 'prefill' || grant.prefill === null) return;
    const { prefill } = grant;
    const nowMs = this.#deps.clock.monotonicMs();
    grant.state = 'handoff';
    grant.handoffAtMs = nowMs;
    this.handoffs.begin(grant);
    grant.beginHold(prefill, 'kvOut', nowMs);
    grant.endLease('succeeded');
    grant.confirm('prefill');
    grant.request.prefillMs = nowMs - grant.placedAtMs;
    setOutcome(grant, 'prefill', 'ok');
    if (prefill.departure === null) this.#learnFromAnswer(prefill, handoff);
    this.#deps.observer.changed();
  }

  beginDecode(grantId: GrantId, exclude: readonly string[], undelivered?: AttemptOutcome): BeginDecodeResult {
    this.#deps.registry.expireDue();
    const grant = this.#grants.get(grantId);
    if (grant?.prefill == null) return { kind: 'stale', cause: 'prefill_departed' };
    if (undelivered !== undefined && grant.state === 'decode' && neverReachedEngine(undelivered)) {
      this.#endPhase(grant, undelivered);
      grant.withdraw('decode');
      grant.state = 'handoff';
      // The bound decode worker's address is part of what prefill was told: nobody else can take this hand-off.
      if (grant.early) return { kind: 'stale', cause: 'decode_departed' };
      grant.decode = null;
    }
    if (grant.state !== 'handoff') return { kind: 'stale', cause: 'handoff_expired' };
    if (grant.prefill.departure !== null) return { kind: 'stale', cause: 'prefill_departed' };
    if (this.#handoffExpired(grant)) return { kind: 'stale', cause: 'handoff_expired' };
    return grant.early ? this.#activateBound(grant) : this.#chooseDecode(grant, grant.prefill, exclude);
  }

  firstByte(grantId: GrantId, phase: Phase): void {
    const grant = this.#grants.get(grantId);
    if (grant?.leasePhase !== phase) return;
    grant.confirm(phase);
    if (phase === 'prefill') return;
    grant.request.firstByteMs ??= this.#deps.clock.monotonicMs() - grant.request.openedAtMs;
    this.handoffs.end(grant);
    const prefill = grant.endHold('kvOut');
    if (prefill !== null) this.#deps.fleet.workEnded(prefill);
    this.#deps.observer.changed();
  }

  /** The one release of a grant: idempotent, and it ends whatever is left. */
  end(grantId: GrantId, outcome: AttemptOutcome): void {
    const grant = this.#grants.get(grantId);
    if (grant === undefined) return;
    this.#grants.delete(grantId);
    this.handoffs.end(grant, outcome.result === 'cancelled' && outcome.fault === null);
    const { charged } = grant;
    this.#endPhase(grant, outcome);
    grant.state = 'ended';
    grant.withdraw('prefill');
    grant.withdraw('decode');
    grant.withdraw('single');
    grant.endHold('kvOut');
    grant.endHold('bound');
    for (const worker of charged) this.#deps.fleet.workEnded(worker);
    grant.request.prefillMs = outcome.timings.prefillMs ?? grant.request.prefillMs;
    grant.request.handoffMs = outcome.timings.handoffMs ?? grant.request.handoffMs;
    this.#deps.observer.changed();
  }

  /** Tells the owners of everything on `worker` that calls not yet begun must not begin, or that all must stop. */
  revoke(worker: Worker, cause: Revocation['cause'], abortRunning: boolean): void {
    const grantIds = new Set<GrantId>();
    for (const { grantId } of worker.leases) grantIds.add(grantId);
    for (const { grantId } of worker.holds) grantIds.add(grantId);
    for (const grantId of grantIds) {
      for (const listener of this.#revocationListeners) listener({ grantId, workerId: worker.id, cause, abortRunning });
    }
  }

  /**
   * The nets below the owners, once a second: releases what belongs to no open request, and ends holds of hand-offs
   * that grew too old without being sent. Costs O(live grants).
   */
  sweepLedger(): void {
    if (this.handoffs.sweep()) this.#deps.observer.changed();
    for (const grant of [...this.#grants.values()]) {
      if (!this.requests.isOpen(grant.request.requestKey)) {
        this.#deps.observer.leaked(grant);
        const phase = grant.leasePhase ?? (grant.prefill === null ? 'single' : 'prefill');
        this.end(grant.id, { phase, result: 'cancelled', status: null, fault: null, timings: { prefillMs: null, handoffMs: null, firstByteMs: null } });
      } else if (grant.state === 'handoff' && this.#handoffExpired(grant)) {
        const prefill = grant.endHold('kvOut');
        if (prefill !== null) this.#deps.fleet.workEnded(prefill);
        this.#deps.observer.changed();
      }
    }
  }

  /** Whether a request for `model` could be placed now, on a pair or a regular worker. */
  canPlace(model: string | null): boolean {
    this.#deps.registry.expireDue();
    return canGenerate(this.#candidates.forModel(model));
  }

  /** Whether it could be placed without `workers`. Costs O(workers). */
  canPlaceWithout(model: string | null, workers: ReadonlySet<Worker>): boolean {
    return canGenerate(this.#candidates.without(model, new Failures(workers)));
  }

  counts(): PoolCounts {
    const { pools } = this.#deps.fleet;
    const of = (pool: RolePool): { selectable: number; total: number } => ({
      selectable: pool.selectableCount,
      total: pool.workers.length,
    });
    const groups = new Set([...pools.prefill.workers, ...pools.decode.workers].map((worker) => worker.group));
    return { prefill: of(pools.prefill), decode: of(pools.decode), regular: of(pools.regular), group: [...groups].sort().join(',') || null };
  }

  #activateBound(grant: Grant): BeginDecodeResult {
    const { decode } = grant;
    if (decode?.departure !== null || !grant.bound) return { kind: 'stale', cause: 'decode_departed' };
    grant.beginLease(decode, 'decode', this.#deps.clock.monotonicMs());
    grant.endHold('bound');
    grant.state = 'decode';
    this.#deps.observer.changed();
    return { kind: 'decode', decode: placed(decode, { reason: grant.receipts.decode?.reason ?? 'only_candidate' }) };
  }

  #chooseDecode(grant: Grant, prefill: Worker, exclude: readonly string[]): BeginDecodeResult {
    const { fleet } = this.#deps;
    const { model } = grant.request;
    const failures = failuresOf(fleet, exclude, grant.failedPairs);
    let candidates = this.#candidates.without(model, failures);
    let partners = candidates.decodeFor(prefill);
    if (partners.length === 0 && grant.failedPairs.length > 0) {
      candidates = this.#candidates.repaired(model, failures);
      partners = candidates.decodeFor(prefill);
    }
    if (partners.length === 0) {
      const waitable = this.#candidates.afterProbes(model, failures).decodeFor(prefill).length > 0;
      return { ...this.#unavailable({ model, shape: 'generation' }, failures), waitable };
    }
    const choice = select(fleet.pools.decode, partners, grant.policyRequest);
    const receipt = this.#receipt('decode', choice, fleet.pools.decode, candidates, partners);
    grant.decode = choice.worker;
    grant.request.decodeId = choice.worker.id;
    this.#pick(grant, 'decode', fleet.pools.decode, choice, receipt);
    grant.beginLease(choice.worker, 'decode', this.#deps.clock.monotonicMs());
    grant.state = 'decode';
    this.#deps.observer.changed();
    return { kind: 'decode', decode: placed(choice.worker, choice) };
  }

  #handoffExpired(grant: Grant): boolean {
    return grant.handoffAtMs !== null && this.#deps.clock.monotonicMs() - grant.handoffAtMs > this.#deps.handoffMaxAgeMs;
  }

  #learnFromAnswer(prefill: Worker, handoff: HandoffFacts): void {
    if (handoff.connector !== null && prefill.learnConnector(handoff.connector)) this.#deps.fleet.identityChanged(prefill);
    if (handoff.engineId !== null) this.#deps.registry.reportEngineId(prefill.lifetime, handoff.engineId);
  }

  /** Ends the lease of the phase in which the attempt ended, and says so to everyone who counts. */
  #endPhase(grant: Grant, outcome: AttemptOutcome): void {
    if (outcome.result === 'succeeded') grant.confirm(outcome.phase);
    noteLatency(grant, outcome);
    const worker = grant.workerOf(outcome.phase);
    const ended = grant.endLease(outcome.result);
    if (ended !== null) this.#deps.fleet.workEnded(ended);
    setOutcome(grant, outcome.phase, describe(outcome));
    this.#deps.observer.attemptEnded(grant, outcome);
    if (worker === null || worker.departure !== null) return;
    if (outcome.fault === 'connect_refused' || outcome.fault === 'reset') {
      worker.health.suspectRestart(this.#deps.clock.monotonicMs());
      this.#deps.fleet.refresh(worker);
      this.#deps.observer.suspected(worker, outcome.fault);
    }
  }

  #grant(
    record: ReturnType<RequestLog['open']>,
    policyRequest: PolicyRequest,
    failedPairs: readonly FailedPair[],
    workers: { readonly prefill: Worker | null; readonly decode: Worker | null; readonly early: boolean },
  ): Grant {
    const nowMs = this.#deps.clock.monotonicMs();
    const grant = new Grant(this.#nextGrantId++, record, policyRequest, failedPairs, nowMs, workers);
    this.#grants.set(grant.id, grant);
    record.promptBytes = keyedBytes(policyRequest.prefixKey);
    record.queuedMs ??= nowMs - record.openedAtMs;
    return grant;
  }

  #pick(grant: Grant, phase: Phase, pool: RolePool, choice: Choice, receipt: AttemptReceipt): void {
    choice.worker.turn += 1;
    grant.claim(phase, pool.policy.commit(choice.worker, grant.policyRequest));
    grant.receipts[phase] = receipt;
    grant.request.attempts.push(receipt);
    this.#deps.observer.placed(phase, pool.policy.name, choice.reason);
  }

  /** The explanation of `choice` among `considered`, one of the lists of `candidates`. */
  #receipt(phase: Phase, choice: Choice, pool: RolePool, candidates: ModelCandidates, considered: readonly Worker[]): AttemptReceipt {
    return new AttemptReceipt(phase, choice, pool.workers, candidates.exclusionsFrom(pool, considered), this.#receiptStorage);
  }

  #unavailable(request: Pick<ReserveRequest, 'model' | 'shape'>, failures: Failures): Unavailable {
    const later = this.#candidates.afterProbes(request.model, failures);
    const placeableLater = request.shape === 'generation' ? canGenerate(later) : later.singles.some((list) => list.length > 0);
    const counts = this.counts();
    const known = this.#modelKnownAbsent(request.model);
    return {
      kind: 'unavailable',
      cause: known ? 'model_not_found' : 'no_available_workers',
      waitable: placeableLater,
      counts,
    };
  }

  /** Whether workers exist, all of them have known models, and none serves `model`. */
  #modelKnownAbsent(model: string | null): boolean {
    if (model === null || this.#deps.fleet.size === 0) return false;
    for (const worker of this.#deps.fleet.workers()) if (worker.serves(model)) return false;
    return true;
  }
}

function select(pool: RolePool, candidates: readonly Worker[], request: PolicyRequest): Choice {
  const choice = pool.policy.select(candidates, request);
  if (choice === undefined) throw new Error(`policy ${pool.policy.name} chose nobody of ${String(candidates.length)} candidates`);
  return choice;
}

function placed(worker: Worker, choice: { readonly reason: PlacedWorker['reason'] }): PlacedWorker {
  return {
    workerId: worker.id,
    role: worker.role,
    endpoint: worker.endpoint,
    zmqAddress: worker.zmqAddress,
    connector: worker.connector.kind,
    reason: choice.reason,
  };
}

function setOutcome(grant: Grant, phase: Phase, outcome: string): void {
  const receipt = grant.receipts[phase];
  if (receipt !== undefined) receipt.outcome ??= outcome;
}

/** Feeds the workers' smoothed latencies; the first byte of a pair is measured from the start of its prefill. */
function noteLatency({ prefill, decode }: Grant, { phase, result, timings }: AttemptOutcome): void {
  const { prefillMs, handoffMs, firstByteMs, perChunkMs } = timings;
  if (prefillMs !== null && (phase !== 'prefill' || result === 'succeeded')) prefill?.latency.notePrefill(prefillMs);
  if (firstByteMs !== null) decode?.latency.noteFirstByte(Math.max(0, firstByteMs - (prefillMs ?? 0) - (handoffMs ?? 0)));
  if (perChunkMs !== undefined) decode?.latency.notePerChunk(perChunkMs);
}

function describe(outcome: AttemptOutcome): string {
  if (outcome.result === 'succeeded') return 'ok';
  if (outcome.result === 'cancelled') return 'cancelled';
  return outcome.fault ?? (outcome.status === null ? 'failed' : `status ${String(outcome.status)}`);
}
