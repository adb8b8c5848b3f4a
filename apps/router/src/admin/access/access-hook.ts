import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type AccessRole } from '@switchyard/core/contracts';

import { anyRoute, asksForDashboard } from '../dashboard/dashboard-address.js';
import { AdminError } from '../errors/admin-error.js';
import { type AccessParts, type AccessQuestion, decideAccess } from './access-rules.js';

export const sessionCookie = 'switchyard_session';

const roles = new WeakMap<FastifyRequest, AccessRole>();

/** Role that a request was let in with; `null` on public routes. */
export function accessRoleOf(request: FastifyRequest): AccessRole | null {
  return roles.get(request) ?? null;
}

/** Guards every request of the listener, before its body is read, unknown paths included. Needs the cookie plugin. */
export function guardAccess(fastify: FastifyInstance, parts: AccessParts): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    const answer = decideAccess(questionOf(request), parts);
    if (!answer.allowed) {
      done(refusal(answer.why));
      return;
    }
    if (answer.role !== null) roles.set(request, answer.role);
    done();
  });
}

function questionOf(request: FastifyRequest): AccessQuestion {
  const { rawHeaders } = request.raw;
  const authorizations = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'authorization');
  return {
    method: request.method,
    route: routeOf(request),
    authorizations,
    cookie: request.cookies[sessionCookie] ?? null,
    origin: request.headers.origin ?? null,
    host: request.headers.host ?? null,
  };
}

/** `null` where nothing is: what only the dashboard's last route takes, and is not for it, is no route to anybody else. */
function routeOf(request: FastifyRequest): string | null {
  const { url } = request.routeOptions;
  if (request.is404 || url === undefined || (url === anyRoute && !asksForDashboard(request))) return null;
  return url;
}

function refusal(why: 'unauthorized' | 'forbidden' | 'cross_origin'): AdminError {
  switch (why) {
    case 'unauthorized':
      return new AdminError('unauthorized', 'this needs a valid token', {
        remedy: 'send Authorization: Bearer <token>, or log in with POST /api/v1/session',
        headers: { 'www-authenticate': 'Bearer' },
      });
    case 'forbidden':
      return new AdminError('forbidden', 'a viewer may only read', { remedy: 'use the operator token' });
    case 'cross_origin':
      return new AdminError('forbidden', 'a page of another origin may not act with this session', { remedy: 'act from the dashboard, or with a token' });
  }
}
