import { type AttemptOutcome, type LeaseResult, type Phase, type ScannedRequest, type TransportFault, type Unavailable } from '@switchyard/core';
import { type ClientExchange } from '../client/client-exchange.js';
import { type RetryReason } from '../proxy-telemetry.js';
import { type Interruption, type RelayResult } from '../streaming/answer-relay.js';
import { type AnswerUsage } from '../streaming/answer-tail.js';
import { type GrantHandle } from './grant-handle.js';
import { type FailedCall, type RetryLedger } from './retry-ledger.js';

/** One client request on its way through the scheduler and the engines. */
export interface GenerationRequest {
  readonly exchange: ClientExchange;
  /** Path and query, as every leg gets them. */
  readonly path: string;
  /** What all legs send, flat; each adds its own request id. */
  readonly headers: readonly string[];
  readonly scanned: ScannedRequest;
  /** On the wheel's clock. */
  readonly totalDeadlineMs: number;
  readonly ledger: RetryLedger;
  /** Workers that were called, for the access log. */
  readonly workers: string[];
  /** What the answer cost, as far as engines tell. */
  readonly accounting: Accounting;
}

/** Filled as answers come; for receipts and rates. */
export interface Accounting {
  usage: AnswerUsage | null;
  /** Of the prompt, on the worker that computed it: a decode worker's own number would say that all was cached. */
  cachedTokens: number | null;
}

/** How one attempt ended, as far as the next step goes. Its grant has ended with it. */
export type AttemptEnd =
  /** The client has its answer, or what there was of it. */
  | { readonly kind: 'answered'; readonly status: number; readonly outcome: string }
  | { readonly kind: 'stopped'; readonly by: 'client_gone' | 'shutdown'; readonly status: number | null }
  | { readonly kind: 'failed'; readonly call: FailedCall }
  /** Nobody's failure: begin at the beginning. */
  | { readonly kind: 'again'; readonly why: RetryReason; readonly evicted: boolean }
  | { readonly kind: 'unavailable'; readonly unavailable: Unavailable };

/** When the steps of an attempt happened, for its outcome. */
export class AttemptTimes {
  readonly #beganMs = performance.now();
  #prefillMs: number | null = null;
  #handoffMs: number | null = null;
  #firstByteMs: number | null = null;
  #perChunkMs: number | undefined;

  prefillDone(): void {
    this.#prefillMs = this.#elapsed();
  }

  decodeBegun(): number {
    this.#handoffMs = this.#elapsed() - (this.#prefillMs ?? 0);
    return this.#handoffMs;
  }

  firstByte(): void {
    this.#firstByteMs = this.#elapsed();
  }

  /** An answer of that many chunks is complete. */
  streamed(chunks: number): void {
    if (this.#firstByteMs !== null && chunks > 1) this.#perChunkMs = (this.#elapsed() - this.#firstByteMs) / (chunks - 1);
  }

  outcome(phase: Phase, result: LeaseResult, status: number | null, fault: TransportFault | null): AttemptOutcome {
    const timings = { prefillMs: this.#prefillMs, handoffMs: this.#handoffMs, firstByteMs: this.#firstByteMs };
    return { phase, result, status, fault, timings: this.#perChunkMs === undefined ? timings : { ...timings, perChunkMs: this.#perChunkMs } };
  }

  #elapsed(): number {
    return performance.now() - this.#beganMs;
  }
}

/** Ends the grant of an attempt that was stopped from this side, and says what that means for the request. */
export function endInterrupted(grant: GrantHandle, times: AttemptTimes, phase: Phase, by: Interruption, status: number | null): AttemptEnd {
  grant.end(times.outcome(phase, 'cancelled', null, by === 'evicted' ? 'revoked' : null));
  if (by !== 'evicted') return { kind: 'stopped', by, status };
  return status === null ? { kind: 'again', why: 'revoked', evicted: true } : { kind: 'answered', status, outcome: 'worker_evicted' };
}

/** Ends the grant of an attempt whose relayed call is over, and says what that means for the request. */
export function endRelayed(grant: GrantHandle, times: AttemptTimes, phase: Phase, workerId: string, result: RelayResult): AttemptEnd {
  switch (result.kind) {
    case 'relayed': {
      times.streamed(result.chunks);
      const good = result.status < 400 && !result.errorEvent;
      grant.end(times.outcome(phase, good ? 'succeeded' : 'failed', result.status, null));
      return { kind: 'answered', status: result.status, outcome: good ? 'ok' : 'engine_error' };
    }
    case 'kept': {
      const { answer, errorEvent } = result;
      grant.end(times.outcome(phase, 'failed', answer.head.status, null));
      return { kind: 'failed', call: { workerId, status: answer.head.status, answer, fault: null, errorEvent } };
    }
    case 'fault': {
      const { fault, stale } = result.fault;
      if (fault === 'revoked') {
        grant.end(times.outcome(phase, 'cancelled', null, fault));
        return { kind: 'again', why: 'revoked', evicted: grant.aborted };
      }
      if (stale) {
        grant.end(times.outcome(phase, 'cancelled', null, null));
        return { kind: 'again', why: 'stale_connection', evicted: false };
      }
      grant.end(times.outcome(phase, 'failed', null, fault));
      return { kind: 'failed', call: { workerId, status: null, answer: null, fault, errorEvent: false } };
    }
    case 'cut':
      grant.end(times.outcome(phase, 'failed', result.status, result.fault.fault));
      return { kind: 'answered', status: result.status, outcome: 'upstream_stream_error' };
    case 'interrupted':
      return endInterrupted(grant, times, phase, result.by, result.begun ? result.status : null);
  }
}
