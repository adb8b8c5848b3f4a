import { type Clock } from '../clock.js';
import { seriesNames, type SeriesName, type SeriesPoint } from '../contracts/overview.schema.js';
import { matchedBytes, type RequestRecord } from './request-log.js';
import { TrafficSlots, type TrafficTotal } from './traffic-slots.js';

/** Longest stretch that is told second by second; beyond it, minute by minute. */
export const finestWindowSecs = 900;
/** Longest stretch that is kept at all. */
export const longestWindowSecs = 86_400;
/** Over which the present is averaged unless asked otherwise. */
export const usualWindowSecs = 60;

/** Rates over a stretch of time; shares and times are `null` where nothing was measured. */
export interface TrafficRates {
  readonly rps: number;
  readonly errorShare: number | null;
  /** Within 6 %. */
  readonly ttftMs: { readonly p50: number | null; readonly p95: number | null };
  readonly tokensPerSecond: number;
  readonly hitRate: number | null;
}

/** Requests there are at one moment. */
export interface TrafficLook {
  readonly inflight: number;
  readonly queued: number;
}

/**
 * What went through the router: the last 15 minutes by the second and the last day by the minute, in about 1 MB that
 * never grows. Closing a request costs O(1).
 */
export class TrafficHistory {
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #seconds = new TrafficSlots(1_000, finestWindowSecs + 1);
  readonly #minutes = new TrafficSlots(60_000, longestWindowSecs / 60 + 1);
  #lookedAt = -1;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAtMs = clock.monotonicMs();
  }

  closed(record: RequestRecord): void {
    const sums = {
      finished: 1,
      failed: endedBadly(record) ? 1 : 0,
      tokens: record.closed?.usage?.completionTokens ?? 0,
      keyedBytes: record.promptBytes ?? 0,
      matchedBytes: record.promptBytes === null ? 0 : matchedBytes(record),
    };
    const nowMs = this.#clock.monotonicMs();
    for (const slots of [this.#seconds, this.#minutes]) slots.add(nowMs, sums, record.firstByteMs);
  }

  /** Notes what is in flight, once a second however often it is called; without it a second counts as not lived. */
  look(now: () => TrafficLook): void {
    const nowMs = this.#clock.monotonicMs();
    const second = this.#seconds.slotOf(nowMs);
    if (second === this.#lookedAt) return;
    this.#lookedAt = second;
    const sums = { ...now(), looks: 1 };
    for (const slots of [this.#seconds, this.#minutes]) slots.add(nowMs, sums, null);
  }

  /** Rates over the last `windowSecs`, the current second included. O(window). */
  rates(windowSecs = usualWindowSecs): TrafficRates {
    const nowMs = this.#clock.monotonicMs();
    const slots = this.#slotsFor(windowSecs);
    const last = slots.slotOf(nowMs);
    const total = slots.total(last - Math.ceil((windowSecs * 1000) / slots.slotMs) + 1, last);
    return ratesOf(total, Math.min(windowSecs, Math.max(1, (nowMs - this.#startedAtMs) / 1000)));
  }

  /** Each series over the last `windowSecs`: slots that are complete and were lived, ascending. O(window). */
  series(windowSecs: number): Record<SeriesName, SeriesPoint[]> {
    const nowMs = this.#clock.monotonicMs();
    const slots = this.#slotsFor(windowSecs);
    const current = slots.slotOf(nowMs);
    const bootMs = this.#clock.wallMs() - nowMs;
    const series: Record<SeriesName, SeriesPoint[]> = { rps: [], inflight: [], queued: [], errorShare: [], ttftP50Ms: [], ttftP95Ms: [], tokensPerSecond: [], hitRate: [] };
    for (let slot = current - Math.ceil((windowSecs * 1000) / slots.slotMs); slot < current; slot += 1) {
      if (!slots.has(slot)) continue;
      const total = slots.total(slot, slot);
      // What was closed in a second tells nothing of what was in flight: that was looked at, or it is not known.
      if (total.looks === 0 && total.finished === 0) continue;
      const rates = ratesOf(total, slots.slotMs / 1000);
      const values: Record<SeriesName, number | null> = {
        rps: rates.rps,
        inflight: ratio(total.inflight, total.looks),
        queued: ratio(total.queued, total.looks),
        errorShare: rates.errorShare,
        ttftP50Ms: rates.ttftMs.p50,
        ttftP95Ms: rates.ttftMs.p95,
        tokensPerSecond: rates.tokensPerSecond,
        hitRate: rates.hitRate,
      };
      const at = Math.round(bootMs + slot * slots.slotMs);
      for (const name of seriesNames) series[name].push([at, values[name]]);
    }
    return series;
  }

  #slotsFor(windowSecs: number): TrafficSlots {
    return windowSecs <= finestWindowSecs ? this.#seconds : this.#minutes;
  }
}

function ratesOf(total: TrafficTotal, overSecs: number): TrafficRates {
  return {
    rps: total.finished / overSecs,
    errorShare: ratio(total.failed, total.finished),
    ttftMs: { p50: total.firstByteMs(0.5), p95: total.firstByteMs(0.95) },
    tokensPerSecond: total.tokens / overSecs,
    hitRate: total.keyedBytes === 0 ? null : Math.min(1, total.matchedBytes / total.keyedBytes),
  };
}

/** The client's own faults and its leaving are not held against the cluster; being turned away is. */
function endedBadly({ closed }: RequestRecord): boolean {
  if (closed === null || closed.outcome === 'ok' || closed.outcome === 'client_gone') return false;
  return closed.status === null || closed.status < 400 || closed.status >= 500 || closed.status === 429;
}

function ratio(part: number, all: number): number | null {
  return all === 0 ? null : part / all;
}
