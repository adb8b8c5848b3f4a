import { type IncomingMessage, type ServerResponse } from 'node:http';

import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AbstractWsAdapter } from '@nestjs/websockets';
import { livePath } from '@switchyard/core/contracts';
import { Server } from 'socket.io';

import { sessionCookie } from '../access/access-hook.js';
import { AdminTokens } from '../access/admin-tokens.js';
import { Sessions } from '../access/sessions.js';
import { decideHandshake, type HandshakeAnswer, type LiveIdentity } from './handshake.js';
import { LIVE_LIMITS, type LiveLimits } from './live-limits.js';
import { SocketCount } from './socket-count.js';

/** Viewers send no more than a token and `resync`. */
const maxMessageBytes = 8_192;

const identities = new WeakMap<IncomingMessage, LiveIdentity>();
const deadlines = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Who opened the connection that `request` became; `null` while its token is still to come. */
export function identityOf(request: IncomingMessage): LiveIdentity | null {
  return identities.get(request) ?? null;
}

/** The connection that `request` became has shown that it may be one, in time. */
export function joined(request: IncomingMessage): void {
  clearTimeout(deadlines.get(request));
}

/** The socket.io server of the admin listener. A connection that may not be is refused before it is a WebSocket. */
export class LiveAdapter extends AbstractWsAdapter {
  readonly #app: NestFastifyApplication;

  constructor(app: NestFastifyApplication) {
    super(app);
    this.#app = app;
  }

  override create(): Server {
    const limits = this.#app.get<LiveLimits>(LIVE_LIMITS);
    const server = new Server(this.httpServer as ConstructorParameters<typeof Server>[0], {
      path: livePath,
      transports: ['websocket'],
      allowUpgrades: false,
      serveClient: false,
      maxHttpBufferSize: maxMessageBytes,
    });
    const count = new SocketCount(limits);
    server.engine.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
      const refusal = this.#refusal(request, count);
      if (refusal !== null) refuse(request, response, refusal);
      else {
        // Without a good-bye: who has not spoken may not answer one either.
        deadlines.set(request, setTimeout(() => request.socket.destroy(), limits.tokenWithinMs).unref());
        next();
      }
    });
    return server;
  }

  /** What viewers send is bound where they are known. */
  override bindMessageHandlers(): void {
    return;
  }

  /** The HTTP server is not its own: whoever opened that closes it. */
  override close(server: Server): Promise<void> {
    server.disconnectSockets(true);
    server.engine.close();
    return Promise.resolve();
  }

  #refusal(request: IncomingMessage, count: SocketCount): Refusal | null {
    const answer = this.#decide(request);
    if (answer.kind === 'refused') return answer;
    if (!isUpgrade(request) || new URLSearchParams(request.url?.split('?')[1]).has('sid')) {
      return { status: 400, why: 'the live stream speaks WebSocket and nothing else' };
    }
    if (!count.admit(request.socket)) return { status: 429, why: 'too many live connections' };
    if (answer.kind === 'known') identities.set(request, answer.identity);
    return null;
  }

  #decide(request: IncomingMessage): HandshakeAnswer {
    const { headers, headersDistinct } = request;
    const [tokens, sessions] = [this.#app.get(AdminTokens), this.#app.get(Sessions)];
    return decideHandshake(
      {
        authorizations: headersDistinct['authorization'] ?? [],
        cookie: headers.cookie === undefined ? null : (this.#app.getHttpAdapter().getInstance().parseCookie(headers.cookie)[sessionCookie] ?? null),
        origin: headers.origin ?? null,
        host: headers.host ?? null,
      },
      { roleOfToken: (token) => tokens.roleOf(token), roleOfSession: (id) => sessions.roleOf(id) },
    );
  }
}

interface Refusal {
  readonly status: 400 | 401 | 403 | 429;
  readonly why: string;
}

const reasonPhrases = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 429: 'Too Many Requests' } as const;
const codes = { 400: 'invalid_request', 401: 'unauthorized', 403: 'forbidden', 429: 'too_many_attempts' } as const;

/** An upgrade has no response to write to: what the framework hands over in its place writes nothing. */
function refuse(request: IncomingMessage, response: ServerResponse, { status, why }: Refusal): void {
  const body = JSON.stringify({ error: { code: codes[status], message: why } });
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body), connection: 'close' };
  if (!isUpgrade(request)) {
    response.writeHead(status, headers).end(body);
    return;
  }
  const head = [`HTTP/1.1 ${status} ${reasonPhrases[status]}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  const { socket } = request;
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function isUpgrade(request: IncomingMessage): boolean {
  return request.headers.upgrade !== undefined && request.headers.connection?.toLowerCase().includes('upgrade') === true;
}
