import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type ProxyLog, logAccess } from '../access-log.js';
import { ClientExchange } from '../client/client-exchange.js';
import { type ClientPresence } from '../client/client-presence.js';
import { type FlowEnd } from '../flow/generation-flow.js';
import { type FlowServices } from '../flow/flow-services.js';
import { type FleetView } from '../fleet-view.js';
import { routerError } from '../errors/router-error.js';
import { writeError } from '../errors/write-error.js';
import { type RouteTemplate } from '../proxy-telemetry.js';
import { requestIdFor } from '../request-ids.js';

/** What the routes of the API port share. */
export interface RouteContext {
  readonly services: FlowServices;
  readonly fleet: FleetView;
  readonly presence: ClientPresence;
  readonly log: ProxyLog;
  /** Whether the request presents a valid client key, or none is asked for. */
  readonly authorized: (req: IncomingMessage) => boolean;
  /** Whether the client sends its body only after `100 Continue`. */
  readonly awaitsContinue: (req: IncomingMessage) => boolean;
  readonly shuttingDown: () => boolean;
}

/** What a route knows of a request at its end. */
export interface RouteEnd extends FlowEnd {
  readonly model: string | null;
  readonly workers: readonly string[];
}

export function plainEnd(status: number | null, error: RouteEnd['error'] = null): RouteEnd {
  const outcome = error ?? (status === null ? 'client_gone' : 'ok');
  return { status, outcome, error, model: null, workers: [] };
}

/** Runs one request: identity, presence, counting and its log line around what the route does. */
export async function runExchange(
  context: RouteContext,
  route: RouteTemplate,
  req: IncomingMessage,
  res: ServerResponse,
  work: (exchange: ClientExchange) => RouteEnd | Promise<RouteEnd>,
): Promise<void> {
  const { services, presence, log } = context;
  const { telemetry } = services;
  const exchange = new ClientExchange(req, res, route, requestIdFor(req.headers['x-request-id'], route));
  // A response whose connection breaks reports it here as well; the presence has already acted on it.
  res.on('error', () => undefined);
  if (context.shuttingDown()) res.shouldKeepAlive = false;
  presence.enter(exchange);
  telemetry.requestStarted(route);
  let end: RouteEnd;
  try {
    end = await work(exchange);
  } catch (error) {
    log.error({ err: error, requestId: exchange.requestId, route }, 'a request failed inside the router');
    end = plainEnd(failInside(exchange), 'internal_error');
  }
  presence.leave(exchange);
  const { status, outcome, error, model, workers } = end;
  const { elapsedMs } = exchange;
  if (outcome === 'client_gone') telemetry.clientAbort(exchange.phase);
  telemetry.requestFinished({ route, model, status, error, durationMs: elapsedMs });
  logAccess(log, { method: req.method ?? '', route, status, outcome, error, model, requestId: exchange.requestId, workers, elapsedMs });
}

function failInside({ res, requestId }: ClientExchange): number | null {
  const error = routerError('internal_error', 'the router failed on this request; try again, and report it with the request id if it goes on');
  let status: number | null = null;
  try {
    status = writeError(res, { requestId, error, close: true });
  } catch {
    // What failed may have been the response itself. Nothing stands behind this: it must not take the process with it.
  }
  if (status === null) res.destroy();
  return status;
}
