import { Body, Controller, Delete, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { type Login, loginSchema, type SessionAnswer, sessionAnswerSchema } from '@switchyard/core/contracts';
import { type FastifyReply, type FastifyRequest } from 'fastify';

import { AuditLog } from '../audit-log.js';
import { AdminError } from '../errors/admin-error.js';
import { accessRoleOf, sessionCookie } from './access-hook.js';
import { AdminTokens } from './admin-tokens.js';
import { LoginLimiter } from './login-limiter.js';
import { sessionMaxAgeSecs, Sessions } from './sessions.js';

const cookieOptions = { path: '/', httpOnly: true, sameSite: 'strict' } as const;

@ApiTags('session')
@Controller('api/v1/session')
export class SessionController {
  readonly #tokens: AdminTokens;
  readonly #sessions: Sessions;
  readonly #limiter: LoginLimiter;
  readonly #audit: AuditLog;

  constructor(
    @Inject(AdminTokens) tokens: AdminTokens,
    @Inject(Sessions) sessions: Sessions,
    @Inject(LoginLimiter) limiter: LoginLimiter,
    @Inject(AuditLog) audit: AuditLog,
  ) {
    this.#tokens = tokens;
    this.#sessions = sessions;
    this.#limiter = limiter;
    this.#audit = audit;
  }

  /** Exchanges a token for a session cookie. */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: sessionAnswerSchema })
  logIn(@Body({ schema: loginSchema }) { token }: Login, @Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): SessionAnswer {
    const { ip } = request;
    const waitSecs = this.#limiter.waitSecs(ip);
    if (waitSecs > 0) {
      throw new AdminError('too_many_attempts', 'too many failed logins from this address', {
        remedy: `try again in ${waitSecs} s`,
        headers: { 'retry-after': String(waitSecs) },
      });
    }
    const role = this.#tokens.roleOf(token);
    if (role === null) {
      this.#limiter.failed(ip);
      this.#audit.record({ type: 'session', reason: 'wrong token', detail: { action: 'refused', address: ip } });
      throw new AdminError('unauthorized', 'this token is not known', { remedy: 'use the operator or viewer token of this router' });
    }
    this.#limiter.succeeded(ip);
    this.#audit.record({ type: 'session', actor: role, detail: { action: 'login', address: ip } });
    // Not `secure`: the admin port speaks plain HTTP, often through a tunnel.
    void reply.setCookie(sessionCookie, this.#sessions.open(role), { ...cookieOptions, maxAge: sessionMaxAgeSecs });
    return { role };
  }

  @Get()
  @ApiOkResponse({ standardSchema: sessionAnswerSchema })
  who(@Req() request: FastifyRequest): SessionAnswer {
    const role = accessRoleOf(request);
    if (role === null) throw new AdminError('unauthorized', 'there is no session');
    return { role };
  }

  @Delete()
  @HttpCode(204)
  @ApiNoContentResponse()
  logOut(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): void {
    void reply.clearCookie(sessionCookie, cookieOptions);
    const id = request.cookies[sessionCookie];
    const role = id === undefined ? null : this.#sessions.roleOf(id);
    if (id === undefined || role === null) return;
    const forgotten = this.#sessions.close(id);
    this.#audit.record({ type: 'session', actor: role, detail: { action: 'logout', address: request.ip } });
    if (!forgotten) {
      throw new AdminError('store_unavailable', 'you are logged out until the router restarts: its store cannot be written', {
        remedy: 'see the log for the cause (a full disk?); a new admin token ends all sessions',
      });
    }
  }
}
