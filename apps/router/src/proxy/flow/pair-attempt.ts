import { type AttemptOutcome, type Connector, connectorOf, type GoodPrefillAnswer, neverReachedEngine, type PairGrant, type PrefillLeg } from '@switchyard/core';
import { hex } from '../request-ids.js';
import { type RetryReason } from '../proxy-telemetry.js';
import { type CollectResult } from '../streaming/answer-collector.js';
import { writeAnswer } from '../streaming/kept-answer.js';
import { runAnswerLeg } from './answer-leg.js';
import { type AttemptEnd, AttemptTimes, endInterrupted, endRelayed, type GenerationRequest } from './attempt.js';
import { type FlowServices } from './flow-services.js';
import { waitForWorkers } from './gate-wait.js';
import { type GrantHandle } from './grant-handle.js';
import { runPrefillLeg } from './prefill-leg.js';
import { isBusy, retryReason } from './retry-ledger.js';
import { pairRouteHeaders } from './route-headers.js';

/** One try of a request over a placed pair: prefill, hand over, decode. */
export async function pairAttempt(services: FlowServices, request: GenerationRequest, placed: PairGrant, grant: GrantHandle): Promise<AttemptEnd> {
  const { exchange } = request;
  const { prefill } = placed;
  const times = new AttemptTimes();
  const connector = connectorOf(prefill.connector);
  if (connector === null) throw new Error(`no way to drive connector ${prefill.connector}`);
  const leg = connector.prefillLeg({
    document: request.scanned.document,
    prefill,
    decode: placed.decode,
    clientRequestId: exchange.requestId,
    toolChoice: services.options.pdPrefillToolChoice,
    randomHex: hex,
  });
  const result = await runPrefillLeg(services, request, prefill, grant, leg);
  if (result.kind === 'interrupted') return endInterrupted(grant, times, 'prefill', result.by, null);
  const answer = goodAnswer(connector, result);
  if (answer === null) return endFailedPrefill(request, placed, grant, times, result);
  request.accounting.cachedTokens = answer.usage?.cachedTokens ?? null;
  times.prefillDone();
  exchange.phase = 'handoff';
  exchange.onEnd(() => grant.end(times.outcome('decode', 'cancelled', null, null)));
  await services.port.prefillDone(grant.grantId, answer.facts);
  return decodeFrom(services, request, { placed, grant, times, connector, leg, answer, doneMs: performance.now() });
}

/** What a finished prefill leaves for decode. */
interface Handoff {
  readonly placed: PairGrant;
  readonly grant: GrantHandle;
  readonly times: AttemptTimes;
  readonly connector: Connector;
  readonly leg: PrefillLeg;
  readonly answer: GoodPrefillAnswer;
  readonly doneMs: number;
}

async function decodeFrom(services: FlowServices, request: GenerationRequest, handoff: Handoff): Promise<AttemptEnd> {
  const { port, wheel, options, telemetry } = services;
  const { exchange, ledger } = request;
  const { placed, grant, times, connector, leg, answer, doneMs } = handoff;
  const decode = connector.decodeLeg(request.scanned.document, leg, answer);
  const headers = [...request.headers, 'x-request-id', decode.requestId];
  const tooOld = () => decode.carriesHandoff && performance.now() - doneMs > options.handoffMaxAgeMs;
  // A worker that is only gated may be waited for, but never until the hand-off is too old to be sent.
  const waitUntilMs = wheel.coarseNowMs + Math.min(options.gateWaitMs, options.handoffMaxAgeMs);
  let undelivered: AttemptOutcome | undefined;
  let retryFor: RetryReason | null = null;
  for (;;) {
    const endedBefore = exchange.endedBy();
    if (endedBefore !== null) return endInterrupted(grant, times, 'decode', endedBefore, null);
    const begun = await port.beginDecode(grant.grantId, ledger.exclude, undelivered);
    const endedMeanwhile = exchange.endedBy();
    if (endedMeanwhile !== null) return endInterrupted(grant, times, 'decode', endedMeanwhile, null);
    if (begun.kind === 'unavailable' && begun.waitable && wheel.coarseNowMs < waitUntilMs) {
      undelivered = undefined;
      await waitForWorkers(port, exchange, wheel, waitUntilMs);
      continue;
    }
    if (begun.kind !== 'decode') {
      grant.end(times.outcome('decode', 'cancelled', null, null));
      return begun.kind === 'stale' ? { kind: 'again', why: retryFor ?? 'stale_handoff', evicted: false } : { kind: 'unavailable', unavailable: begun };
    }
    if (retryFor !== null) telemetry.retry(retryFor);
    telemetry.phaseDuration('handoff', times.decodeBegun());
    const { workerId } = begun.decode;
    const result = await runAnswerLeg(services, request, {
      phase: 'decode',
      worker: begun.decode,
      grant,
      times,
      headers,
      body: decode.body.pieces,
      routeHeaders: options.exposeRouteHeaders ? pairRouteHeaders(placed.prefill, begun.decode) : [],
      repeatStale: !decode.carriesHandoff,
      mayWrite: () => !grant.revoked && !tooOld(),
    });
    const fault = result.kind === 'fault' ? result.fault : null;
    const neverArrived = fault !== null && !fault.delivered && neverReachedEngine({ status: null, fault: fault.fault });
    if (!neverArrived || !ledger.oneMore) {
      const end = endRelayed(grant, times, 'decode', workerId, result);
      return end.kind === 'failed' && decode.carriesHandoff ? { kind: 'failed', call: { ...end.call, handoffFrom: placed.prefill.workerId } } : end;
    }
    // Lifecycle rule 16: a hand-off that provably reached nobody may go to another decode worker.
    telemetry.upstreamError(fault.fault === 'connect_timeout' ? 'connect_timeout' : 'connect_refused');
    retryFor = retryReason({ fault: fault.fault, status: null, errorEvent: false });
    ledger.note({ workerId, status: null, answer: null, fault: fault.fault, errorEvent: false });
    undelivered = times.outcome('decode', 'failed', null, fault.fault);
    exchange.phase = 'handoff';
    exchange.onEnd(() => grant.end(times.outcome('decode', 'cancelled', null, null)));
  }
}

function goodAnswer(connector: Connector, result: Extract<CollectResult, { kind: 'answer' | 'fault' }>): GoodPrefillAnswer | null {
  if (result.kind === 'fault' || result.head.status < 200 || result.head.status > 299) return null;
  const answer = connector.readPrefillAnswer(result.body);
  return answer.kind === 'answer' ? answer : null;
}

function endFailedPrefill(
  request: GenerationRequest,
  placed: PairGrant,
  grant: GrantHandle,
  times: AttemptTimes,
  result: Extract<CollectResult, { kind: 'answer' | 'fault' }>,
): AttemptEnd {
  const { workerId } = placed.prefill;
  if (result.kind === 'fault') return endRelayed(grant, times, 'prefill', workerId, result);
  const { head, body } = result;
  const { status } = head;
  if (status < 400) {
    grant.end(times.outcome('prefill', 'failed', status, 'invalid_response'));
    return { kind: 'failed', call: { workerId, status: null, answer: null, fault: 'invalid_response', errorEvent: false } };
  }
  grant.end(times.outcome('prefill', 'failed', status, null));
  const answer = { head, body, truncated: false };
  if (status >= 500 || isBusy(status)) return { kind: 'failed', call: { workerId, status, answer, fault: null, errorEvent: false } };
  writeAnswer(request.exchange.res, answer);
  return { kind: 'answered', status, outcome: 'engine_error' };
}
