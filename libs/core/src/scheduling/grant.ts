import { type AffinityClaim, type PolicyRequest } from '../policies/policy.js';
import { type LeaseResult, type Phase } from '../words.js';
import { type HoldKind, type HoldRecord, type LeaseRecord } from '../workers/lease.js';
import { type Worker } from '../workers/worker.js';
import { type AttemptReceipt } from './receipt.js';
import { type RequestRecord } from './request-log.js';
import { type FailedPair } from './scheduler-port.js';

/** Where a grant stands. `handoff` = prefill is done and decode has not begun. */
export type GrantState = 'prefill' | 'handoff' | 'decode' | 'single' | 'ended';

interface Claimed<R> {
  readonly worker: Worker;
  readonly record: R;
}

/**
 * Everything one attempt of one request holds on workers. Its worker objects are the ones that were charged: whatever
 * registers at their endpoints later is never touched.
 */
export class Grant {
  readonly id: number;
  readonly request: RequestRecord;
  readonly policyRequest: PolicyRequest;
  /** Of its request, before it. */
  readonly failedPairs: readonly FailedPair[];
  /** Monotonic milliseconds. */
  readonly placedAtMs: number;
  state: GrantState;
  /** Worker of the prefill phase; `null` for an undivided request. */
  readonly prefill: Worker | null;
  /** Worker of decode, or of the whole undivided request; `null` until chosen. */
  decode: Worker | null;
  /** Decode was chosen together with prefill. */
  readonly early: boolean;
  /** Monotonic milliseconds of the end of prefill. */
  handoffAtMs: number | null = null;
  readonly receipts: Partial<Record<Phase, AttemptReceipt>> = {};
  readonly #claims: Record<Phase, AffinityClaim | null> = { prefill: null, decode: null, single: null };
  #lease: Claimed<LeaseRecord> | null = null;
  readonly #holds: Record<HoldKind, Claimed<HoldRecord> | null> = { kvOut: null, bound: null };

  constructor(
    id: number,
    request: RequestRecord,
    policyRequest: PolicyRequest,
    failedPairs: readonly FailedPair[],
    placedAtMs: number,
    workers: { readonly prefill: Worker | null; readonly decode: Worker | null; readonly early: boolean },
  ) {
    this.id = id;
    this.request = request;
    this.policyRequest = policyRequest;
    this.failedPairs = failedPairs;
    this.placedAtMs = placedAtMs;
    this.prefill = workers.prefill;
    this.decode = workers.decode;
    this.early = workers.early;
    this.state = workers.prefill === null ? 'single' : 'prefill';
  }

  /** The worker that `phase` runs on; `null` while it is not chosen. */
  workerOf(phase: Phase): Worker | null {
    return phase === 'prefill' ? this.prefill : this.decode;
  }

  /** The workers that would notice the end of this grant. */
  get charged(): Set<Worker> {
    const workers = new Set<Worker>();
    for (const claimed of [this.#lease, this.#holds.kvOut, this.#holds.bound]) if (claimed !== null) workers.add(claimed.worker);
    return workers;
  }

  claim(phase: Phase, claim: AffinityClaim | null): void {
    this.#claims[phase] = claim;
  }

  confirm(phase: Phase): void {
    this.#claims[phase]?.confirm();
    // A settled claim is dropped with its reference to the index: streams live long.
    this.#claims[phase] = null;
  }

  withdraw(phase: Phase): void {
    this.#claims[phase]?.withdraw();
    this.#claims[phase] = null;
  }

  beginLease(worker: Worker, phase: Phase, nowMs: number): void {
    const { requestKey, requestId, model, stream } = this.request;
    const record: LeaseRecord = { grantId: this.id, requestKey, requestId, phase, model, stream, sinceMs: nowMs };
    this.#lease = { worker, record };
    worker.beginLease(record);
  }

  /** Ends the live lease, if any, as `result`; returns its worker. */
  endLease(result: LeaseResult): Worker | null {
    const lease = this.#lease;
    this.#lease = null;
    lease?.worker.endLease(lease.record, result);
    return lease?.worker ?? null;
  }

  get leasePhase(): Phase | null {
    return this.#lease?.record.phase ?? null;
  }

  /** Its decode worker is held for it and has not begun. */
  get bound(): boolean {
    return this.#holds.bound !== null;
  }

  beginHold(worker: Worker, kind: HoldKind, nowMs: number): void {
    const { requestKey, requestId } = this.request;
    const record: HoldRecord = { grantId: this.id, requestKey, requestId, kind, sinceMs: nowMs };
    this.#holds[kind] = { worker, record };
    worker.beginHold(record);
  }

  /** Ends the hold of `kind`, if any; returns its worker. */
  endHold(kind: HoldKind): Worker | null {
    const hold = this.#holds[kind];
    if (hold === null) return null;
    this.#holds[kind] = null;
    hold.worker.endHold(hold.record);
    return hold.worker;
  }
}
