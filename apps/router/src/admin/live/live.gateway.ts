import { Inject, type OnModuleDestroy } from '@nestjs/common';
import { type OnGatewayConnection, type OnGatewayInit, WebSocketGateway } from '@nestjs/websockets';
import { Cluster, LiveBoard, TrafficHistory } from '@switchyard/core';
import { type Logger } from 'pino';

import { CLUSTER } from '../../pools/pools.service.js';
import { EventLog } from '../../store/event-log.js';
import { LOGGER } from '../../telemetry/telemetry.tokens.js';
import { AdminTokens } from '../access/admin-tokens.js';
import { Sessions } from '../access/sessions.js';
import { type LiveIdentity } from './handshake.js';
import { LiveAudience, type LiveServer, type LiveSocket } from './live-audience.js';
import { LIVE_LIMITS, type LiveLimits } from './live-limits.js';
import { identityOf, joined } from './live.adapter.js';

const refusedLingerMs = 500;

/** The live stream of the admin port. Whoever may read may follow. */
@WebSocketGateway()
export class LiveGateway implements OnGatewayInit<LiveServer>, OnGatewayConnection<LiveSocket>, OnModuleDestroy {
  readonly #board: LiveBoard;
  readonly #events: EventLog;
  readonly #tokens: AdminTokens;
  readonly #sessions: Sessions;
  readonly #limits: LiveLimits;
  readonly #log: Logger;
  readonly #identities = new WeakMap<LiveSocket, LiveIdentity>();
  #audience: LiveAudience | null = null;

  constructor(
    @Inject(CLUSTER) cluster: Cluster,
    @Inject(TrafficHistory) traffic: TrafficHistory,
    @Inject(EventLog) events: EventLog,
    @Inject(AdminTokens) tokens: AdminTokens,
    @Inject(Sessions) sessions: Sessions,
    @Inject(LIVE_LIMITS) limits: LiveLimits,
    @Inject(LOGGER) log: Logger,
  ) {
    this.#board = new LiveBoard(cluster, traffic);
    this.#events = events;
    this.#tokens = tokens;
    this.#sessions = sessions;
    this.#limits = limits;
    this.#log = log;
  }

  afterInit(server: LiveServer): void {
    const audience = new LiveAudience({
      server,
      board: this.#board,
      events: this.#events,
      limits: this.#limits,
      monotonicMs: () => performance.now(),
      dropped: (address) => this.#log.warn({ address }, 'a viewer took nothing for too long and was dropped'),
    });
    this.#audience = audience;
    server.use((socket, next) => {
      const identity = identityOf(socket.request) ?? this.#byToken(socket);
      if (identity === null) {
        next(new Error('unauthorized'));
        setTimeout(() => endRefused(socket), 0);
        return;
      }
      this.#identities.set(socket, identity);
      next();
    });
    // What an operator did is complete only after this step.
    this.#events.onAppended(({ actor }) => {
      if (actor !== undefined) audience.publishSoon();
    });
    this.#sessions.onClosed(() => audience.endRefused());
  }

  handleConnection(socket: LiveSocket): void {
    joined(socket.request);
    const session = this.#identities.get(socket)?.session ?? null;
    this.#audience?.add(socket, session === null ? () => true : this.#sessions.watch(session));
  }

  onModuleDestroy(): void {
    this.#audience?.close();
  }

  #byToken({ handshake }: LiveSocket): LiveIdentity | null {
    const token: unknown = handshake.auth['token'];
    const role = typeof token === 'string' ? this.#tokens.roleOf(token) : null;
    return role === null ? null : { role, session: null };
  }
}

/** It has its answer, and nothing else to wait for. */
function endRefused({ conn, request }: LiveSocket): void {
  conn.close();
  setTimeout(() => request.socket.destroy(), refusedLingerMs).unref();
}
