import { type FastifyInstance } from 'fastify';
import { prefixKeyOf, type PromptApi, type RequestKey, type ScannedRequest, scanRequest } from '@switchyard/core';
import { readBody } from '../client/body-reader.js';
import { keyNeeded } from '../client/client-auth.js';
import { type ClientExchange } from '../client/client-exchange.js';
import { mediaTypeFault } from '../client/json-request.js';
import { refuse } from '../errors/refuse.js';
import { type RouterError, routerError } from '../errors/router-error.js';
import { shuttingDown } from '../errors/shutdown-errors.js';
import { writeError } from '../errors/write-error.js';
import { type GenerationRequest } from '../flow/attempt.js';
import { type FlowEnd, runGeneration } from '../flow/generation-flow.js';
import { RetryLedger } from '../flow/retry-ledger.js';
import { type EngineHeaderRules, engineHeaderRules, engineRequestHeaders } from '../headers/engine-request-headers.js';
import { plainEnd, type RouteContext, type RouteEnd, runExchange } from './route-context.js';

const apis = [
  ['/v1/chat/completions', 'chat'],
  ['/v1/completions', 'completions'],
] as const satisfies readonly (readonly [string, PromptApi])[];

type GenerationRoute = (typeof apis)[number][0];

/** The routes that are placed over prefill and decode workers. */
export function generationRoutes(app: FastifyInstance, context: RouteContext): void {
  const rules = engineHeaderRules(context.services.options);
  let nextKey: RequestKey = 1;
  for (const [route, api] of apis) {
    app.route({
      method: 'POST',
      url: route,
      // From here on the request is ours: no parsing, no reply object, no hooks.
      onRequest: (request, reply) => {
        reply.hijack();
        void runExchange(context, route, request.raw, reply.raw, (exchange) => generate(context, exchange, { route, api, rules, requestKey: nextKey++ }));
      },
      handler: () => undefined,
    });
  }
}

interface GenerationKind {
  readonly route: GenerationRoute;
  readonly api: PromptApi;
  readonly rules: EngineHeaderRules;
  readonly requestKey: RequestKey;
}

async function generate(context: RouteContext, exchange: ClientExchange, kind: GenerationKind): Promise<RouteEnd> {
  const { services } = context;
  const { options, wheel } = services;
  const { req, res, requestId } = exchange;
  let awaitsContinue = context.awaitsContinue(req);
  const refused = async (error: RouterError) => plainEnd(await refuse(exchange, error, wheel, awaitsContinue), error.code);
  if (context.shuttingDown()) return refused(shuttingDown());
  if (!context.authorized(req)) return refused(keyNeeded());
  const fault = mediaTypeFault(req);
  if (fault !== null) return refused(fault);
  if (awaitsContinue && !(Number(req.headers['content-length']) > options.maxBodyBytes)) {
    res.writeContinue();
    awaitsContinue = false;
  }
  const body = await readBody(exchange, options, wheel);
  switch (body.kind) {
    case 'too_large':
      return refused(routerError('body_too_large', `the request body is larger than the ${options.maxBodyBytes} bytes that are read here; send less, or have --max-body-bytes raised`));
    case 'slow':
      return plainEnd(
        writeError(res, { requestId, error: routerError('request_timeout', 'the request body came too slowly; send it again over a faster connection'), close: true }),
        'request_timeout',
      );
    case 'ended': {
      const error = exchange.fault ?? (exchange.endedBy() === 'shutdown' ? shuttingDown() : null);
      return error === null ? plainEnd(null) : plainEnd(writeError(res, { requestId, error, close: true }), error.code);
    }
    case 'body':
  }
  const scan = scanRequest(body.bytes, kind.api);
  if (scan.kind === 'invalid') {
    const error = routerError(scan.code, scan.message);
    return plainEnd(writeError(res, { requestId, error }), error.code);
  }
  return place(context, exchange, kind, scan.request);
}

async function place(context: RouteContext, exchange: ClientExchange, { route, rules, requestKey }: GenerationKind, scanned: ScannedRequest): Promise<RouteEnd> {
  const { services } = context;
  const { port, options, wheel } = services;
  const { req, requestId } = exchange;
  const { model, stream } = scanned;
  const request: GenerationRequest = {
    exchange,
    path: `${route}${queryOf(req.url ?? '')}`,
    headers: engineRequestHeaders(req, rules),
    scanned,
    totalDeadlineMs: wheel.coarseNowMs + options.requestTimeoutMs,
    ledger: new RetryLedger(options.retryMaxAttempts),
    workers: [],
    accounting: { usage: null, cachedTokens: null },
  };
  port.openRequest({ requestKey, requestId, route, model, stream });
  let end: FlowEnd = { status: null, outcome: 'internal_error', error: 'internal_error' };
  try {
    end = await runGeneration(services, request, { requestKey, prefixKey: prefixKeyOf(scanned) });
  } finally {
    port.closeRequest(requestKey, { status: end.status, outcome: end.outcome, usage: request.accounting.usage, reportedCachedTokens: request.accounting.cachedTokens });
  }
  return { ...end, model, workers: request.workers };
}

function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at);
}
