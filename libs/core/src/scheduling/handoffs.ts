import { type Clock } from '../clock.js';
import { type Worker } from '../workers/worker.js';
import { type Grant } from './grant.js';

/** KV that a client left behind on its prefill engine, which keeps it until its own lease passes. */
export interface StrandedKv {
  readonly requestId: string;
  readonly prefill: Worker;
  readonly decodeId: string | null;
  /** Monotonic milliseconds at which the client left. */
  readonly sinceMs: number;
}

const mostStranded = 1_000;

/** The grants between the end of their prefill and their first decode byte, and what was left behind there. */
export class Handoffs {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #live = new Set<Grant>();
  #stranded: StrandedKv[] = [];

  /** `leaseMs`: how long an engine keeps KV that nobody fetches. */
  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** In order of the end of their prefill. */
  get live(): Iterable<Grant> {
    return this.#live;
  }

  /** In order of their clients' leaving; at most 1,000, the latest. */
  get stranded(): readonly StrandedKv[] {
    return this.#stranded;
  }

  begin(grant: Grant): void {
    this.#live.add(grant);
  }

  /** Ends the hand-off of `grant`, if it is in one; `clientLeft` leaves its KV behind. */
  end(grant: Grant, clientLeft = false): void {
    if (!this.#live.delete(grant) || !clientLeft || grant.prefill === null) return;
    const { request, prefill, decode } = grant;
    this.#stranded.push({ requestId: request.requestId, prefill, decodeId: decode?.id ?? null, sinceMs: this.#clock.monotonicMs() });
    if (this.#stranded.length > mostStranded * 1.1) this.#stranded = this.#stranded.slice(-mostStranded);
  }

  /** Forgets KV whose lease has passed or whose engine process is gone; `true` when there was some. */
  sweep(): boolean {
    const oldestMs = this.#clock.monotonicMs() - this.#leaseMs;
    const before = this.#stranded.length;
    if (before > 0) {
      this.#stranded = this.#stranded.filter(({ sinceMs, prefill }) => sinceMs > oldestMs && prefill.departure?.processGone !== true);
    }
    return this.#stranded.length !== before;
  }
}
