import { type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { type SchedulerPort } from '@switchyard/core';
import { type ProxyLog } from './access-log.js';
import { clientAuth } from './client/client-auth.js';
import { answerClientError } from './client/client-error.js';
import { type ClientExchange } from './client/client-exchange.js';
import { ClientPresence } from './client/client-presence.js';
import { routerError } from './errors/router-error.js';
import { writeError } from './errors/write-error.js';
import { type FleetView } from './fleet-view.js';
import { type FlowServices } from './flow/flow-services.js';
import { GrantBook, type GrantFaults } from './flow/grant-handle.js';
import { type ProxyOptions } from './proxy-options.js';
import { type ProxyTelemetry } from './proxy-telemetry.js';
import { requestIdFor } from './request-ids.js';
import { generationRoutes } from './routes/generation.routes.js';
import { modelsRoutes } from './routes/models.routes.js';
import { type RouteContext } from './routes/route-context.js';
import { statusRoutes } from './routes/status.routes.js';
import { unknownRoutes } from './routes/unknown.routes.js';
import { CoarseWheel } from './upstream/coarse-wheel.js';
import { EnginePools } from './upstream/engine-pools.js';

export interface ApiServerParts {
  readonly options: ProxyOptions;
  readonly port: SchedulerPort;
  readonly fleet: FleetView;
  readonly telemetry: ProxyTelemetry;
  readonly log: ProxyLog;
}

const headersTimeoutMs = 60_000;
const keepAliveTimeoutMs = 72_000;

/** The API port: the listener for clients and everything between it and the engines. */
export class ApiServer {
  readonly #app: FastifyInstance;
  readonly #presence = new ClientPresence();
  readonly #pools: EnginePools;
  readonly #awaitingContinue = new WeakSet<IncomingMessage>();
  #shuttingDown = false;

  constructor({ options, port, fleet, telemetry, log }: ApiServerParts) {
    this.#pools = new EnginePools(options);
    const services: FlowServices = { port, grants: new GrantBook(port, grantFaults(log)), pools: this.#pools, wheel: new CoarseWheel(), options, telemetry };
    const context: RouteContext = {
      services,
      fleet,
      presence: this.#presence,
      log,
      authorized: clientAuth(options.clientApiKeys),
      awaitsContinue: (req) => this.#awaitingContinue.has(req),
      shuttingDown: () => this.#shuttingDown,
    };
    this.#app = createApp((socket) => this.#presence.openOn(socket));
    this.#followServer(this.#app.server);
    generationRoutes(this.#app, context);
    modelsRoutes(this.#app, context);
    statusRoutes(this.#app, context);
    unknownRoutes(this.#app, context);
  }

  /** Binds the listener; resolves with the address it got. */
  async listen(host: string, port: number): Promise<AddressInfo> {
    await this.#app.listen({ host, port });
    const address = this.#app.server.address();
    if (address === null || typeof address === 'string') throw new Error('the API port has no address');
    return address;
  }

  /** New inference requests are refused from now on; running ones go on. The listener stays. */
  beginShutdown(): void {
    this.#shuttingDown = true;
  }

  /** Requests in progress. */
  get openRequests(): number {
    return this.#presence.openCount;
  }

  /** Bytes of request bodies held in memory. */
  get bufferedBytes(): number {
    return this.#presence.bufferedBytes;
  }

  /** Resolves when no request is in progress. */
  drained(): Promise<void> {
    return this.#presence.whenIdle();
  }

  /** Ends every request in progress as a failing engine would. */
  abortAll(): void {
    this.#presence.endAll();
  }

  /** Closes the listener, its connections and those to engines. Call it when drained, or after `abortAll`. */
  async close(): Promise<void> {
    const closed = this.#app.close();
    this.#app.server.closeIdleConnections();
    const stuck = setTimeout(() => this.#app.server.closeAllConnections(), 1000);
    await closed;
    clearTimeout(stuck);
    await this.#pools.close();
  }

  #followServer(server: Server): void {
    this.#presence.follow(server);
    server.requestTimeout = 0;
    server.headersTimeout = headersTimeoutMs;
    server.keepAliveTimeout = keepAliveTimeoutMs;
    server.on('checkContinue', (req: IncomingMessage, res) => {
      this.#awaitingContinue.add(req);
      server.emit('request', req, res);
    });
    // Expectations other than 100-continue may be ignored (RFC 9110 section 10.1.1).
    server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  }
}

function grantFaults(log: ProxyLog): GrantFaults {
  return {
    lost: (grantId) => log.error({ grantId }, 'a grant was lost by its owner and has been ended'),
    failed: (error) => log.error({ err: error }, 'the scheduler failed on a call'),
  };
}

function createApp(openOn: (socket: Socket) => readonly ClientExchange[]): FastifyInstance {
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => answerClientError(error, socket, openOn(socket)),
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      const requestId = requestIdFor(request.raw.headers['x-request-id'], 'other');
      writeError(reply.raw, { requestId, error: routerError('invalid_request', 'the path of the request is not valid; check its percent-encoding') });
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  return app;
}
