import { type PrefixKey, type RequestKey, type ReserveResult, type Unavailable } from '@switchyard/core';
import { type ErrorCode } from '../errors/error-codes.js';
import { unavailableError, workerEvicted } from '../errors/placement-errors.js';
import { type RouterError, routerError } from '../errors/router-error.js';
import { shuttingDown } from '../errors/shutdown-errors.js';
import { faultError } from '../errors/upstream-errors.js';
import { writeError } from '../errors/write-error.js';
import { type RetryReason } from '../proxy-telemetry.js';
import { writeAnswer } from '../streaming/kept-answer.js';
import { type AttemptEnd, type GenerationRequest } from './attempt.js';
import { type FlowServices } from './flow-services.js';
import { waitForWorkers } from './gate-wait.js';
import { pairAttempt } from './pair-attempt.js';
import { type FailedCall, isBusy, retryReason } from './retry-ledger.js';
import { singleAttempt } from './single-attempt.js';

/** How a request ended, for everyone who keeps records. */
export interface FlowEnd {
  /** Status sent to the client; `null` when it left before one was. */
  readonly status: number | null;
  /** `ok`, `client_gone`, `engine_error` or an error code of the router. */
  readonly outcome: string;
  readonly error: ErrorCode | null;
}

export interface PlacementWish {
  readonly requestKey: RequestKey;
  readonly prefixKey: PrefixKey;
}

/** Places the request, runs it, and places it again until it is answered or nothing more may be tried. */
export async function runGeneration(services: FlowServices, request: GenerationRequest, wish: PlacementWish): Promise<FlowEnd> {
  const { exchange, ledger } = request;
  let evicted = false;
  let retryFor: RetryReason | null = null;
  for (;;) {
    const reserved = await reserve(services, request, wish);
    if (reserved === null) return endStopped(request, exchange.endedBy() ?? 'client_gone', null);
    if (reserved.kind === 'unavailable') return endUnavailable(request, reserved, evicted);
    // Not before: a retry that nobody can take is none.
    if (retryFor !== null) services.telemetry.retry(retryFor);
    const end = await attempt(services, request, reserved);
    switch (end.kind) {
      case 'answered':
        return { status: end.status, outcome: end.outcome, error: null };
      case 'stopped':
        return endStopped(request, end.by, end.status);
      case 'unavailable':
        return endUnavailable(request, end.unavailable, evicted);
      case 'again':
        evicted ||= end.evicted;
        if (!ledger.restart()) return endExhausted(request, evicted);
        retryFor = end.why;
        break;
      case 'failed':
        countFailure(services, end.call);
        if (!ledger.note(end.call)) return endExhausted(request, evicted);
        retryFor = retryReason(end.call);
        break;
    }
  }
}

/** A grant, or why there is none; `null` when the request was over before. */
async function reserve(services: FlowServices, request: GenerationRequest, { requestKey, prefixKey }: PlacementWish): Promise<ReserveResult | null> {
  const { port, grants, wheel, options } = services;
  const { exchange, ledger, scanned } = request;
  let waitUntilMs: number | null = null;
  exchange.phase = 'queued';
  for (;;) {
    exchange.onEnd(() => undefined);
    if (exchange.endedBy() !== null) return null;
    const { model, sessionKey } = scanned;
    const reserved = await port.reserve({ requestKey, model, shape: 'generation', prefixKey, sessionKey, exclude: ledger.exclude, failedPairs: ledger.failedPairs });
    if (exchange.endedBy() !== null) {
      // The client left while its grant was on the way.
      if (reserved.kind !== 'unavailable') grants.open(reserved.grantId)[Symbol.dispose]();
      return null;
    }
    if (reserved.kind !== 'unavailable' || !reserved.waitable) return reserved;
    waitUntilMs ??= wheel.coarseNowMs + options.gateWaitMs;
    if (wheel.coarseNowMs >= waitUntilMs) return reserved;
    await waitForWorkers(port, exchange, wheel, waitUntilMs);
  }
}

async function attempt(services: FlowServices, request: GenerationRequest, reserved: Exclude<ReserveResult, Unavailable>): Promise<AttemptEnd> {
  const grant = services.grants.open(reserved.grantId);
  // Not `using`: what it compiles to on this target costs every request a stack of disposables.
  try {
    return reserved.kind === 'pair' ? await pairAttempt(services, request, reserved, grant) : await singleAttempt(services, request, reserved, grant);
  } finally {
    grant[Symbol.dispose]();
  }
}

function countFailure({ telemetry }: FlowServices, { fault, status, errorEvent }: FailedCall): void {
  if (fault !== null) {
    if (fault !== 'revoked') telemetry.upstreamError(fault);
  } else if (errorEvent) telemetry.upstreamError('stream_error');
  else if (status !== null) telemetry.upstreamError(isBusy(status) ? 'busy' : 'status_5xx');
}

function endStopped(request: GenerationRequest, by: 'client_gone' | 'shutdown', status: number | null): FlowEnd {
  if (by === 'client_gone') return { status, outcome: 'client_gone', error: null };
  if (status !== null) return { status, outcome: 'shutting_down', error: null };
  return answerError(request, shuttingDown(), true);
}

function endUnavailable(request: GenerationRequest, unavailable: Unavailable, evicted: boolean): FlowEnd {
  const { lastAnswer, lastFault } = request.ledger;
  if (lastAnswer !== null || lastFault !== null || evicted) return endExhausted(request, evicted);
  return answerError(request, unavailableError(unavailable, request.scanned.model));
}

/** Nothing more may be tried: the last engine's answer if there is one, else what went wrong. */
function endExhausted(request: GenerationRequest, evicted: boolean): FlowEnd {
  const { lastAnswer, lastFault } = request.ledger;
  if (lastAnswer !== null) {
    writeAnswer(request.exchange.res, lastAnswer);
    return { status: lastAnswer.head.status, outcome: 'engine_error', error: null };
  }
  if (lastFault !== null) return answerError(request, faultError(lastFault));
  if (evicted) return answerError(request, workerEvicted());
  return answerError(request, routerError('no_available_workers', 'the workers for this request kept changing; try again', { retryAfterSecs: 1 }));
}

function answerError({ exchange }: GenerationRequest, error: RouterError, close = false): FlowEnd {
  const status = writeError(exchange.res, { requestId: exchange.requestId, error, close });
  return { status, outcome: error.code, error: error.code };
}
