import { type PlacedWorker, type PrefillLeg } from '@switchyard/core';
import { prefillRequestHeaders } from '../headers/engine-request-headers.js';
import { AnswerCollector, type CollectResult } from '../streaming/answer-collector.js';
import { EngineCall } from '../upstream/engine-call.js';
import { type GenerationRequest } from './attempt.js';
import { type FlowServices } from './flow-services.js';
import { type GrantHandle } from './grant-handle.js';

/** Calls the prefill engine and reads its whole answer. */
export async function runPrefillLeg(
  services: FlowServices,
  request: GenerationRequest,
  worker: PlacedWorker,
  grant: GrantHandle,
  leg: PrefillLeg,
): Promise<CollectResult> {
  const { pools, wheel, options, telemetry } = services;
  const { exchange } = request;
  const beganMs = performance.now();
  request.workers.push(worker.workerId);
  exchange.phase = 'prefill';
  const collector = new AnswerCollector(exchange.requestId);
  const headers = [...prefillRequestHeaders(request.headers), 'x-request-id', leg.requestId];
  const call = new EngineCall(
    pools,
    wheel,
    { endpoint: worker.endpoint, path: request.path, headers, body: leg.body.pieces },
    {
      limits: { firstByteTimeoutMs: options.firstByteTimeoutMs, idleTimeoutMs: options.streamIdleTimeoutMs, totalDeadlineMs: request.totalDeadlineMs },
      mayWrite: () => !grant.revoked,
      repeatStale: true,
    },
    collector,
    () => telemetry.upstreamError('stale_connection'),
  );
  collector.feed(call);
  exchange.onEnd((end) => collector.interrupt(end));
  grant.onAbort(() => collector.interrupt('evicted'));
  if (exchange.endedBy() === null && !grant.aborted) call.start();
  const result = await collector.result;
  telemetry.phaseDuration('prefill', performance.now() - beganMs);
  return result;
}
