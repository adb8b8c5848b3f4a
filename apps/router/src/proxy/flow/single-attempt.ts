import { type SingleGrant } from '@switchyard/core';
import { runAnswerLeg } from './answer-leg.js';
import { type AttemptEnd, AttemptTimes, endRelayed, type GenerationRequest } from './attempt.js';
import { type FlowServices } from './flow-services.js';
import { type GrantHandle } from './grant-handle.js';
import { singleRouteHeaders } from './route-headers.js';

/** One try of an undivided request on the worker of `placed`. */
export async function singleAttempt(services: FlowServices, request: GenerationRequest, placed: SingleGrant, grant: GrantHandle): Promise<AttemptEnd> {
  const { worker } = placed;
  const times = new AttemptTimes();
  const result = await runAnswerLeg(services, request, {
    phase: 'single',
    worker,
    grant,
    times,
    headers: [...request.headers, 'x-request-id', request.exchange.requestId],
    body: [request.scanned.document.bytes],
    routeHeaders: services.options.exposeRouteHeaders ? singleRouteHeaders(worker) : [],
    repeatStale: true,
    mayWrite: () => !grant.revoked,
  });
  return endRelayed(grant, times, 'single', worker.workerId, result);
}
