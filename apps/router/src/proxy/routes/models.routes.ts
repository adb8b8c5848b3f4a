import { type FastifyInstance } from 'fastify';
import { keyNeeded } from '../client/client-auth.js';
import { type ClientExchange } from '../client/client-exchange.js';
import { type RouterError, routerError } from '../errors/router-error.js';
import { writeError } from '../errors/write-error.js';
import { type FleetView } from '../fleet-view.js';
import { answerJson } from './answer-json.js';
import { plainEnd, type RouteContext, type RouteEnd, runExchange } from './route-context.js';

/** `/v1/models` and one model of it; ids may contain slashes. */
export function modelsRoutes(app: FastifyInstance, context: RouteContext): void {
  app.get('/v1/models', (request, reply) => {
    reply.hijack();
    void runExchange(context, '/v1/models', request.raw, reply.raw, (exchange) =>
      ifAuthorized(context, exchange, () => plainEnd(answerJson(exchange, 200, { object: 'list', data: [...modelEntries(context.fleet).values()] }))),
    );
  });
  app.get<{ Params: { '*': string } }>('/v1/models/*', (request, reply) => {
    reply.hijack();
    void runExchange(context, '/v1/models/{id}', request.raw, reply.raw, (exchange) =>
      ifAuthorized(context, exchange, () => answerModel(context, exchange, request.params['*'])),
    );
  });
}

function ifAuthorized({ authorized }: RouteContext, exchange: ClientExchange, answer: () => RouteEnd): RouteEnd {
  if (authorized(exchange.req)) return answer();
  return answerError(exchange, keyNeeded());
}

function answerModel({ fleet }: RouteContext, exchange: ClientExchange, id: string): RouteEnd {
  const entry = modelEntries(fleet).get(id);
  if (entry !== undefined) return plainEnd(answerJson(exchange, 200, entry));
  return answerError(exchange, routerError('model_not_found', 'no such model here; GET /v1/models lists those that are served', { param: 'model' }));
}

function answerError({ res, requestId }: ClientExchange, error: RouterError): RouteEnd {
  return plainEnd(writeError(res, { requestId, error }), error.code);
}

/** One entry an id. The fullest wins: a worker's own entry over an id that is merely known. */
function modelEntries(fleet: FleetView): Map<string, object> {
  const entries = new Map<string, object>();
  const bare = new Set<string>();
  for (const { id, entry } of fleet.models()) {
    if (entries.has(id) && !(bare.has(id) && entry !== null)) continue;
    entries.set(id, { ...entry, id, object: 'model' });
    if (entry === null) bare.add(id);
    else bare.delete(id);
  }
  return entries;
}
