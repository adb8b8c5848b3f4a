import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import { type AdminErrorCode } from '@switchyard/core/contracts';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';

import { LOGGER } from '../../telemetry/telemetry.tokens.js';
import { AdminError } from './admin-error.js';
import { KnownRoutes } from './known-routes.js';

/** Every error leaves in one shape, whoever threw it: ours, the framework's or the HTTP parser's. */
@Catch()
export class AdminErrorFilter implements ExceptionFilter {
  readonly #log: Logger;
  readonly #routes: KnownRoutes;

  constructor(@Inject(LOGGER) log: Logger, @Inject(KnownRoutes) routes: KnownRoutes) {
    this.#log = log;
    this.#routes = routes;
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const error = this.#wrongMethod(thrown, http.getRequest<FastifyRequest>()) ?? (thrown instanceof AdminError ? thrown : foreignError(thrown));
    if (error.code === 'internal_error') this.#log.error({ err: thrown }, 'admin API: internal error');
    if (reply.sent) return;
    void reply.status(error.status).headers({ ...error.facts.headers }).type('application/json; charset=utf-8').send(error.answer);
  }

  /** What seems to be nothing may be a path that was asked the wrong way. */
  #wrongMethod(thrown: unknown, { url, method }: FastifyRequest): AdminError | null {
    if (statusOf(thrown) !== 404) return null;
    const [path = ''] = url.split('?', 1);
    const methods = this.#routes.methodsOf(path);
    if (methods.length === 0 || methods.includes(method)) return null;
    const allow = methods.join(', ');
    return new AdminError('method_not_allowed', `this path takes ${allow}, not ${method}`, { remedy: 'see /api/docs for what each path takes', headers: { allow } });
  }
}

const codesByStatus: Readonly<Record<number, AdminErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  413: 'body_too_large',
  415: 'unsupported_media_type',
};

function foreignError(thrown: unknown): AdminError {
  const code = codesByStatus[statusOf(thrown)];
  if (code === undefined) return new AdminError('internal_error', 'something went wrong inside the router', { remedy: 'see its log' });
  if (code === 'not_found') return new AdminError('not_found', 'there is nothing at this path', { remedy: 'see /api/docs for what there is' });
  const message = thrown instanceof Error ? thrown.message : 'the request is not acceptable';
  return new AdminError(code, message);
}

function statusOf(thrown: unknown): number {
  if (thrown instanceof AdminError) return thrown.status;
  if (thrown instanceof HttpException) return thrown.getStatus();
  if (thrown instanceof Error && 'statusCode' in thrown && typeof thrown.statusCode === 'number') return thrown.statusCode;
  return 500;
}
