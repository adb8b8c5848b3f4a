import { Counter, Histogram, type Registry } from 'prom-client';

import {
  type AbortPhase,
  type FinishedRequest,
  type ProxyTelemetry,
  type RetryReason,
  type RouteTemplate,
  type TimedPhase,
  type UpstreamErrorKind,
} from '../proxy/proxy-telemetry.js';
import { type Bound, bound } from './bound-series.js';

const requestSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800];
const firstByteSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Status label of a request whose client left before it got one. */
const clientGone = '499';

/** What the data plane does, as metrics. Series are bound to their labels once: these calls are on the request path. */
export class DataPlaneMetrics implements ProxyTelemetry {
  readonly #requests: Counter<'route' | 'model' | 'status'>;
  readonly #duration: Bound<Histogram.Internal<'route'>>;
  readonly #firstByte: Bound<Histogram.Internal<'route'>>;
  readonly #phases: Bound<Histogram.Internal<'phase'>>;
  readonly #retries: Bound<Counter.Internal>;
  readonly #upstreamErrors: Bound<Counter.Internal>;
  readonly #clientAborts: Bound<Counter.Internal>;
  readonly #requestSeries = new Map<string, Counter.Internal>();
  #knowsModel: (name: string) => boolean = () => false;
  #inflight = 0;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'switchyard_requests_total',
      help: 'Finished requests. Status 499: the client left before it got one. Model: unknown unless an engine serves it.',
      labelNames: ['route', 'model', 'status'],
      registers,
    });
    this.#duration = bound(
      new Histogram({
        name: 'switchyard_request_duration_seconds',
        help: 'From the arrival of a request to the end of its answer.',
        labelNames: ['route'],
        buckets: requestSeconds,
        registers,
      }),
    );
    this.#firstByte = bound(
      new Histogram({
        name: 'switchyard_time_to_first_byte_seconds',
        help: 'From the arrival of a request to the first body byte of its answer.',
        labelNames: ['route'],
        buckets: firstByteSeconds,
        registers,
      }),
    );
    this.#phases = bound(
      new Histogram({
        name: 'switchyard_phase_duration_seconds',
        help: 'Duration of one phase of an attempt: prefill, handoff, first_byte, decode or single.',
        labelNames: ['phase'],
        buckets: requestSeconds,
        registers,
      }),
    );
    this.#retries = bound(
      new Counter({ name: 'switchyard_retries_total', help: 'Engine calls repeated, by what made it necessary.', labelNames: ['reason'], registers }),
    );
    this.#upstreamErrors = bound(
      new Counter({ name: 'switchyard_upstream_errors_total', help: 'Engine calls that went wrong, by how.', labelNames: ['kind'], registers }),
    );
    this.#clientAborts = bound(
      new Counter({ name: 'switchyard_client_aborts_total', help: 'Clients that left early, by where their request was.', labelNames: ['phase'], registers }),
    );
  }

  /** Tells which model names may become labels: those learnt from engines, for clients can name anything. */
  recogniseModels(knowsModel: (name: string) => boolean): void {
    this.#knowsModel = knowsModel;
  }

  get inflight(): number {
    return this.#inflight;
  }

  requestStarted(): void {
    this.#inflight += 1;
  }

  requestFinished({ route, model, status, durationMs }: FinishedRequest): void {
    this.#inflight -= 1;
    const modelLabel = model !== null && this.#knowsModel(model) ? model : 'unknown';
    this.#request(route, modelLabel, status === null ? clientGone : String(status)).inc();
    this.#duration(route).observe(durationMs / 1000);
  }

  firstByte(route: RouteTemplate, elapsedMs: number): void {
    this.#firstByte(route).observe(elapsedMs / 1000);
  }

  phaseDuration(phase: TimedPhase, elapsedMs: number): void {
    this.#phases(phase).observe(elapsedMs / 1000);
  }

  retry(reason: RetryReason): void {
    this.#retries(reason).inc();
  }

  upstreamError(kind: UpstreamErrorKind): void {
    this.#upstreamErrors(kind).inc();
  }

  clientAbort(phase: AbortPhase): void {
    this.#clientAborts(phase).inc();
  }

  #request(route: string, model: string, status: string): Counter.Internal {
    const key = `${route} ${status} ${model}`;
    let series = this.#requestSeries.get(key);
    if (series === undefined) this.#requestSeries.set(key, (series = this.#requests.labels(route, model, status)));
    return series;
  }
}
