import { type FailedPair, type TransportFault } from '@switchyard/core';
import { type RetryReason } from '../proxy-telemetry.js';
import { type KeptAnswer } from '../streaming/kept-answer.js';

/** One failed engine call. */
export interface FailedCall {
  readonly workerId: string;
  readonly status: number | null;
  readonly answer: KeptAnswer | null;
  readonly fault: TransportFault | null;
  readonly errorEvent: boolean;
  /** Prefill worker whose hand-off it was given. */
  readonly handoffFrom?: string;
}

/** Fresh starts that cost no failed call (stale hand-offs, revoked workers) still end somewhere. */
const maxRestarts = 8;

/** An engine that says it is busy, as opposed to broken. */
export function isBusy(status: number): boolean {
  return status === 429 || status === 503;
}

/** Counts what one request has cost, and decides whether it may be tried again. */
export class RetryLedger {
  readonly #maxAttempts: number;
  readonly #exclude: string[] = [];
  readonly #failedPairs: FailedPair[] = [];
  #failedCalls = 0;
  #busyAnswers = 0;
  #restarts = 0;
  #lastAnswer: KeptAnswer | null = null;
  #lastFault: TransportFault | null = null;

  constructor(maxAttempts: number) {
    this.#maxAttempts = maxAttempts;
  }

  /** Workers that failed this request by themselves. */
  get exclude(): readonly string[] {
    return this.#exclude;
  }

  /** Pairs whose decode call failed, perhaps on what it was handed. */
  get failedPairs(): readonly FailedPair[] {
    return this.#failedPairs;
  }

  /** The last thing an engine answered; relayed when nobody else can be tried. */
  get lastAnswer(): KeptAnswer | null {
    return this.#lastAnswer;
  }

  get lastFault(): TransportFault | null {
    return this.#lastFault;
  }

  /** Whether a call that fails now would leave another try. */
  get oneMore(): boolean {
    return this.#failedCalls + 1 < this.#maxAttempts;
  }

  /** Whether an answer like this is kept back because another worker may do better. */
  keepBack(status: number, errorEvent: boolean): boolean {
    if (!this.oneMore) return false;
    if (isBusy(status)) return this.#busyAnswers === 0;
    return errorEvent || status >= 500;
  }

  /** Notes a failed call; returns whether the request may be tried again. */
  note(call: FailedCall): boolean {
    const again = this.oneMore && call.fault !== 'total_timeout' && !(call.status !== null && isBusy(call.status) && this.#busyAnswers > 0);
    this.#failedCalls += 1;
    if (call.status !== null && isBusy(call.status)) this.#busyAnswers += 1;
    if (call.handoffFrom !== undefined && mayBlameHandoff(call)) this.#failedPairs.push({ prefill: call.handoffFrom, decode: call.workerId });
    else this.#exclude.push(call.workerId);
    if (call.answer !== null) this.#lastAnswer = call.answer;
    this.#lastFault = call.fault;
    return again;
  }

  /** Notes a fresh start that is nobody's failure; returns whether it may be made. */
  restart(): boolean {
    this.#restarts += 1;
    return this.#restarts <= maxRestarts;
  }
}

/** Whether a decode call may have failed because the KV cache it was to fetch, or the engine that has it, was gone. */
function mayBlameHandoff({ status, fault }: FailedCall): boolean {
  if (status !== null) return !isBusy(status);
  return fault === 'reset' || fault === 'first_byte_timeout' || fault === 'idle_timeout';
}

/** The closed word for why a call is tried again. */
export function retryReason({ fault, status, errorEvent }: Pick<FailedCall, 'fault' | 'status' | 'errorEvent'>): RetryReason {
  if (fault === 'invalid_response') return 'invalid_response';
  if (fault === 'connect_timeout' || fault === 'first_byte_timeout' || fault === 'idle_timeout' || fault === 'total_timeout') return 'timeout';
  if (fault !== null) return 'transport';
  if (errorEvent) return 'stream_error';
  return status !== null && isBusy(status) ? 'busy' : 'status_5xx';
}
