import { type ErrorCode } from './errors/error-codes.js';

/** Paths of the API port as metric labels. */
export type RouteTemplate =
  | '/v1/chat/completions'
  | '/v1/completions'
  | '/v1/models'
  | '/v1/models/{id}'
  | '/health'
  | '/liveness'
  | '/readiness'
  | '/version'
  | 'other';

/** Where a request was when its client left. */
export type AbortPhase = 'upload' | 'queued' | 'prefill' | 'handoff' | 'first_byte' | 'stream';

export type RetryReason = 'status_5xx' | 'busy' | 'transport' | 'timeout' | 'invalid_response' | 'stream_error' | 'stale_connection' | 'stale_handoff' | 'revoked';

export type UpstreamErrorKind =
  | 'connect_refused'
  | 'connect_timeout'
  | 'reset'
  | 'first_byte_timeout'
  | 'idle_timeout'
  | 'total_timeout'
  | 'invalid_response'
  | 'status_5xx'
  | 'busy'
  | 'stream_error'
  | 'stale_connection';

export type TimedPhase = 'prefill' | 'handoff' | 'first_byte' | 'decode' | 'single';

/** The end of a request as metrics see it. */
export interface FinishedRequest {
  readonly route: RouteTemplate;
  /** As the client named it: the receiver maps unknown names to one label. */
  readonly model: string | null;
  /** Status sent; `null` when the client left before one was. */
  readonly status: number | null;
  /** Code of the router's own error, if that was the answer. */
  readonly error: ErrorCode | null;
  readonly durationMs: number;
}

/** Receives what happens on the data plane. Called on the request path: implementations bind their labels beforehand. */
export interface ProxyTelemetry {
  requestStarted(route: RouteTemplate): void;
  requestFinished(request: FinishedRequest): void;
  firstByte(route: RouteTemplate, elapsedMs: number): void;
  phaseDuration(phase: TimedPhase, elapsedMs: number): void;
  retry(reason: RetryReason): void;
  upstreamError(kind: UpstreamErrorKind): void;
  clientAbort(phase: AbortPhase): void;
}
