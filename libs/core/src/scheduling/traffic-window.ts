import { type Clock } from '../clock.js';
import { matchedBytes, type RequestRecord } from './request-log.js';

const samplesPerSecond = 256;

/** What happened in one second. */
interface Second {
  /** Which second of the monotonic clock. */
  readonly at: number;
  finished: number;
  failed: number;
  tokens: number;
  matchedBytes: number;
  keyedBytes: number;
  /** First-byte times; beyond `samplesPerSecond` the latest stand for all. */
  readonly firstByteMs: number[];
  firstBytes: number;
}

/** Rates over the last `windowSecs`; shares and times are `null` where nothing was measured. */
export interface TrafficRates {
  readonly rps: number;
  readonly errorShare: number | null;
  readonly ttftMs: { readonly p50: number | null; readonly p95: number | null };
  readonly tokensPerSecond: number;
  readonly hitRate: number | null;
}

/** Counts closed requests by the second, over a sliding window. Closing costs O(1), reading O(window). */
export class TrafficWindow {
  readonly windowSecs: number;
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  #seconds: Second[] = [];

  constructor(clock: Clock, windowSecs = 60) {
    this.#clock = clock;
    this.#startedAtMs = clock.monotonicMs();
    this.windowSecs = windowSecs;
  }

  closed(record: RequestRecord): void {
    const second = this.#now();
    second.finished += 1;
    if (endedBadly(record)) second.failed += 1;
    second.tokens += record.closed?.usage?.completionTokens ?? 0;
    if (record.promptBytes !== null) {
      second.keyedBytes += record.promptBytes;
      second.matchedBytes += matchedBytes(record);
    }
    if (record.firstByteMs !== null) {
      second.firstByteMs[second.firstBytes % samplesPerSecond] = record.firstByteMs;
      second.firstBytes += 1;
    }
  }

  rates(): TrafficRates {
    const from = this.#second() - this.windowSecs;
    const seconds = this.#seconds.filter(({ at }) => at > from);
    const sum = (field: 'finished' | 'failed' | 'tokens' | 'matchedBytes' | 'keyedBytes'): number =>
      seconds.reduce((total, second) => total + second[field], 0);
    const overSecs = Math.min(this.windowSecs, Math.max(1, (this.#clock.monotonicMs() - this.#startedAtMs) / 1000));
    const times = Float64Array.from(seconds.flatMap(({ firstByteMs }) => firstByteMs)).sort();
    return {
      rps: sum('finished') / overSecs,
      errorShare: ratio(sum('failed'), sum('finished')),
      ttftMs: { p50: quantile(times, 0.5), p95: quantile(times, 0.95) },
      tokensPerSecond: sum('tokens') / overSecs,
      hitRate: ratio(sum('matchedBytes'), sum('keyedBytes')),
    };
  }

  #second(): number {
    return Math.floor(this.#clock.monotonicMs() / 1000);
  }

  #now(): Second {
    const at = this.#second();
    const last = this.#seconds.at(-1);
    if (last?.at === at) return last;
    const fresh: Second = { at, finished: 0, failed: 0, tokens: 0, matchedBytes: 0, keyedBytes: 0, firstByteMs: [], firstBytes: 0 };
    this.#seconds = this.#seconds.filter((second) => second.at > at - this.windowSecs);
    this.#seconds.push(fresh);
    return fresh;
  }
}

/** The client's own faults and its leaving are not held against the cluster; being turned away is. */
function endedBadly({ closed }: RequestRecord): boolean {
  if (closed === null || closed.outcome === 'ok' || closed.outcome === 'client_gone') return false;
  return closed.status === null || closed.status < 400 || closed.status >= 500 || closed.status === 429;
}

function ratio(part: number, all: number): number | null {
  return all === 0 ? null : Math.min(1, part / all);
}

/** Nearest-rank quantile of ascending values; `null` of none. */
function quantile(ascending: Float64Array, q: number): number | null {
  return ascending[Math.max(0, Math.ceil(ascending.length * q) - 1)] ?? null;
}
