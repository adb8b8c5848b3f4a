import { type AttemptOutcome, type Grant, type RequestRecord, type SchedulerObserver } from '@switchyard/core';
import { Counter, Histogram, type Registry } from 'prom-client';

import { bound } from './bound-series.js';

const placementSeconds = [1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 5e-2];
const queueSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60];

export type RegistrationKind = 'new' | 'heartbeat' | 'replaced' | 'rejected';

/** What registry and scheduler do, as metrics. */
export class ControlPlaneMetrics implements Pick<SchedulerObserver, 'placed' | 'attemptEnded' | 'leaked' | 'requestClosed'> {
  readonly #placements: Counter;
  readonly #placementSeries = new Map<string, Counter.Internal>();
  readonly #placementDuration: Histogram;
  readonly #attempts: Counter;
  readonly #queueWait: Histogram;
  readonly #leaked: Counter;
  readonly #registrations: (kind: RegistrationKind) => Counter.Internal;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#placements = new Counter({
      name: 'switchyard_placements_total',
      help: 'Workers chosen for a phase, by the policy that chose and its reason.',
      labelNames: ['policy', 'reason'],
      registers,
    });
    this.#placementDuration = new Histogram({
      name: 'switchyard_placement_duration_seconds',
      help: 'Duration of one placement transaction.',
      buckets: placementSeconds,
      registers,
    });
    this.#attempts = new Counter({
      name: 'switchyard_attempts_total',
      help: 'Attempts that ended, by the phase in which and how.',
      labelNames: ['phase', 'result'],
      registers,
    });
    this.#queueWait = new Histogram({
      name: 'switchyard_queue_wait_seconds',
      help: 'How long requests waited for their first placement; counted when they end.',
      buckets: queueSeconds,
      registers,
    });
    this.#leaked = new Counter({
      name: 'switchyard_leases_leaked_total',
      help: 'Leases or holds that outlived their request and were released by the ledger sweep. Anything but 0 is a bug.',
      registers,
    });
    this.#registrations = bound(
      new Counter({
        name: 'switchyard_registrations_total',
        help: 'Statements of discovery sources, by what came of them.',
        labelNames: ['kind'],
        registers,
      }),
    );
  }

  placed(_phase: string, policy: string, reason: string): void {
    const key = `${policy} ${reason}`;
    let series = this.#placementSeries.get(key);
    if (series === undefined) this.#placementSeries.set(key, (series = this.#placements.labels(policy, reason)));
    series.inc();
  }

  placementTook(seconds: number): void {
    this.#placementDuration.observe(seconds);
  }

  attemptEnded(_grant: Grant, { phase, result }: AttemptOutcome): void {
    this.#attempts.inc({ phase, result });
  }

  leaked(): void {
    this.#leaked.inc();
  }

  requestClosed({ queuedMs }: RequestRecord): void {
    if (queuedMs !== null) this.#queueWait.observe(queuedMs / 1000);
  }

  counted(kind: RegistrationKind): void {
    this.#registrations(kind).inc();
  }
}
