import { type Phase, type PlacedWorker } from '@switchyard/core';
import { workerEvicted } from '../errors/placement-errors.js';
import { cutByShutdown } from '../errors/shutdown-errors.js';
import { streamError } from '../errors/upstream-errors.js';
import { AnswerRelay, type RelayResult } from '../streaming/answer-relay.js';
import { EngineCall } from '../upstream/engine-call.js';
import { type AttemptTimes, type GenerationRequest } from './attempt.js';
import { type FlowServices } from './flow-services.js';
import { type GrantHandle } from './grant-handle.js';

export interface AnswerLeg {
  readonly phase: Exclude<Phase, 'prefill'>;
  readonly worker: PlacedWorker;
  readonly grant: GrantHandle;
  readonly times: AttemptTimes;
  readonly headers: string[];
  readonly body: readonly Uint8Array[];
  readonly routeHeaders: readonly string[];
  /** A hand-off is sent at most once, so its call is not repeated on a fresh connection. */
  readonly repeatStale: boolean;
  readonly mayWrite: () => boolean;
}

/** Calls the engine whose answer the client gets, and relays that answer. Resolves when the call is over. */
export async function runAnswerLeg(services: FlowServices, request: GenerationRequest, leg: AnswerLeg): Promise<RelayResult> {
  const { pools, wheel, options, telemetry } = services;
  const { exchange, ledger } = request;
  const { phase, worker, grant, times } = leg;
  const beganMs = performance.now();
  request.workers.push(worker.workerId);
  exchange.phase = 'first_byte';
  const relay = new AnswerRelay(exchange.res, wheel, {
    requestId: exchange.requestId,
    routeHeaders: leg.routeHeaders,
    holdHeadMs: options.holdHeadMs,
    keepBack: (status, errorEvent) => ledger.keepBack(status, errorEvent),
    firstByte: (status, errorEvent) => {
      exchange.phase = 'stream';
      times.firstByte();
      telemetry.firstByte(exchange.route, exchange.elapsedMs);
      telemetry.phaseDuration('first_byte', performance.now() - beganMs);
      if (status < 300 && !errorEvent) grant.firstByte(phase);
    },
    describe: (why) => {
      if (why === 'evicted') return workerEvicted();
      return typeof why === 'string' ? cutByShutdown() : streamError(why.fault);
    },
  });
  const call = new EngineCall(
    pools,
    wheel,
    { endpoint: worker.endpoint, path: request.path, headers: leg.headers, body: leg.body },
    {
      limits: { firstByteTimeoutMs: options.firstByteTimeoutMs, idleTimeoutMs: options.streamIdleTimeoutMs, totalDeadlineMs: request.totalDeadlineMs },
      mayWrite: leg.mayWrite,
      repeatStale: leg.repeatStale,
    },
    relay,
    () => telemetry.upstreamError('stale_connection'),
  );
  relay.feed(call);
  exchange.onEnd((end) => relay.interrupt(end));
  grant.onAbort(() => relay.interrupt('evicted'));
  if (exchange.endedBy() === null && !grant.aborted) call.start();
  const result = await relay.result;
  telemetry.phaseDuration(phase, performance.now() - beganMs);
  if (result.kind === 'relayed') {
    request.accounting.usage = result.usage;
    if (phase === 'single') request.accounting.cachedTokens = result.usage?.cachedTokens ?? null;
  }
  return result;
}
