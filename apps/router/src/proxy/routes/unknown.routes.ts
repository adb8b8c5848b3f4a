import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { keyNeeded } from '../client/client-auth.js';
import { refuse } from '../errors/refuse.js';
import { type RouterError, routerError } from '../errors/router-error.js';
import { plainEnd, type RouteContext, runExchange } from './route-context.js';

const reading = 'GET, HEAD';
const generating = 'POST';

const allowed: Readonly<Record<string, string>> = {
  '/v1/chat/completions': generating,
  '/v1/completions': generating,
  '/v1/models': reading,
  '/health': reading,
  '/liveness': reading,
  '/readiness': reading,
  '/version': reading,
};

/** Answers for whatever no route takes: a known path asked the wrong way, or an unknown one. */
export function unknownRoutes(app: FastifyInstance, context: RouteContext): void {
  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    void runExchange(context, 'other', request.raw, reply.raw, async (exchange) => {
      const { req, res } = exchange;
      const [path = ''] = (req.url ?? '').split('?', 1);
      const error = context.authorized(req) ? faultOf(path, req.method ?? '') : keyNeeded();
      const allow = error.code === 'method_not_allowed' ? methodsOf(path) : undefined;
      if (allow !== undefined) res.setHeader('allow', allow);
      return plainEnd(await refuse(exchange, error, context.services.wheel, context.awaitsContinue(req)), error.code);
    });
  };
  app.setNotFoundHandler(answer);
  // Fastify stumbles over a malformed content type before it gets here; every other route is past that by then.
  app.setErrorHandler((_error, request, reply) => answer(request, reply));
}

function methodsOf(path: string): string | undefined {
  return Object.hasOwn(allowed, path) ? allowed[path] : path.startsWith('/v1/models/') && path.length > 11 ? reading : undefined;
}

function faultOf(path: string, method: string): RouterError {
  const allow = methodsOf(path);
  if (allow !== undefined && !allow.split(', ').includes(method)) {
    return routerError('method_not_allowed', `this path takes ${allow}`);
  }
  return routerError('not_found', 'no such path here; see the documentation for those that are served');
}
