import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type RouterError } from '../errors/router-error.js';
import { type AbortPhase, type RouteTemplate } from '../proxy-telemetry.js';

/** Why a request is ended from outside its own flow. */
export type ExchangeEnd = 'client_gone' | 'shutdown';

/**
 * One request of one client, from its arrival until its answer is complete or its client gone. Whoever works for it
 * at the moment registers how to stop that work.
 */
export class ClientExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly route: RouteTemplate;
  readonly requestId: string;
  readonly arrivedMs = performance.now();
  /** What is being done for it; where a client that leaves is counted. */
  phase: AbortPhase = 'upload';
  /** Bytes of its body that are held; until it ends, because an attempt may need them again. */
  bodyBytes = 0;
  /** What was wrong with the request as it was still coming; its upload ends with that answer. */
  fault: RouterError | null = null;
  #ended: ExchangeEnd | null = null;
  /** @internal Neighbours among the open exchanges; the presence's own. */
  next: ClientExchange | null = null;
  /** @internal */
  previous: ClientExchange | null = null;
  #stop: ((end: ExchangeEnd) => void) | null = null;

  constructor(req: IncomingMessage, res: ServerResponse, route: RouteTemplate, requestId: string) {
    this.req = req;
    this.res = res;
    this.route = route;
    this.requestId = requestId;
  }

  /** Set once the client is gone or the router gives the request up; no new work may begin then. */
  endedBy(): ExchangeEnd | null {
    return this.#ended;
  }

  get elapsedMs(): number {
    return performance.now() - this.arrivedMs;
  }

  /** Replaces the way to stop the present work. Called at once when the end has come already. */
  onEnd(stop: (end: ExchangeEnd) => void): void {
    this.#stop = stop;
    if (this.#ended !== null) stop(this.#ended);
  }

  /** The work is done: nothing is left to stop. */
  close(): void {
    this.#stop = null;
  }

  end(why: ExchangeEnd): void {
    if (this.#ended !== null) return;
    this.#ended = why;
    this.#stop?.(why);
  }
}
