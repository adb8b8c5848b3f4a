import { type Heartbeat } from '../words.js';

const rememberedIntervals = 8;

/** The beat of one registering source: when it last spoke and how long it usually takes. */
export class HeartbeatHistory {
  readonly #intervalsMs: number[] = [];
  #lastAtMs: number | null = null;
  #ttlMs = 0;

  /** Notes a registration at `nowMs` of the listening clock. */
  beat(nowMs: number, ttlMs: number): void {
    if (this.#lastAtMs !== null) {
      this.#intervalsMs.push(nowMs - this.#lastAtMs);
      if (this.#intervalsMs.length > rememberedIntervals) this.#intervalsMs.shift();
    }
    this.#lastAtMs = nowMs;
    this.#ttlMs = ttlMs;
  }

  get lastAtMs(): number | null {
    return this.#lastAtMs;
  }

  /** The age beyond which the next beat is late: 1.5 × the median interval, TTL/2 before three beats. */
  get lateAfterMs(): number {
    if (this.#intervalsMs.length < 2) return this.#ttlMs / 2;
    const sorted = [...this.#intervalsMs].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    const upper = sorted[middle] ?? 0;
    const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
    // Intervals are measured in ticks of the listening clock, so a burst of pings may measure as nothing at all.
    return median > 0 ? median * 1.5 : this.#ttlMs / 2;
  }

  /** `none` before the first beat, `lost` when `expired`, else `ok` or `late` by the age at `nowMs`. */
  state(nowMs: number, expired: boolean): Heartbeat {
    if (this.#lastAtMs === null) return 'none';
    if (expired) return 'lost';
    return nowMs - this.#lastAtMs > this.lateAfterMs ? 'late' : 'ok';
  }
}
