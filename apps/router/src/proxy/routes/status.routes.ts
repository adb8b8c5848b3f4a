import { type FastifyInstance } from 'fastify';
import { type ClientExchange } from '../client/client-exchange.js';
import { type RouteTemplate } from '../proxy-telemetry.js';
import { answerJson } from './answer-json.js';
import { plainEnd, type RouteContext, runExchange } from './route-context.js';

/** Probes and version: open to everyone, since load balancers carry no keys. */
export function statusRoutes(app: FastifyInstance, context: RouteContext): void {
  const alive = (exchange: ClientExchange) => answerJson(exchange, 200, { status: 'ok' });
  const answers: readonly (readonly [RouteTemplate, (exchange: ClientExchange) => number])[] = [
    ['/health', alive],
    ['/liveness', alive],
    ['/readiness', (exchange) => answerReadiness(context, exchange)],
    ['/version', (exchange) => answerJson(exchange, 200, { version: context.services.options.version })],
  ];
  for (const [route, answer] of answers) {
    app.get(route, (request, reply) => {
      reply.hijack();
      void runExchange(context, route, request.raw, reply.raw, (exchange) => plainEnd(answer(exchange)));
    });
  }
}

function answerReadiness({ fleet, shuttingDown }: RouteContext, exchange: ClientExchange): number {
  const { ready, counts } = fleet.readiness();
  const { prefill, decode, regular } = counts;
  const status = shuttingDown() ? 'shutting_down' : ready ? 'ready' : 'unavailable';
  return answerJson(exchange, status === 'ready' ? 200 : 503, { status, prefill, decode, regular });
}
