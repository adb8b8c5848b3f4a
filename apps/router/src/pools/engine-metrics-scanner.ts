import { type EngineLoadReading } from '@switchyard/core';

/** What an engine's metrics tell; `null` = not told. */
export interface EngineMetrics {
  /** Unix seconds. */
  readonly startedAtSecs: number | null;
  readonly load: EngineLoadReading | null;
}

/** Longer than any line that can matter: the metric's name, labels and value. */
const longestLine = 4096;

const startTime = 'process_start_time_seconds';
/** vLLM names its gauges so, one series per engine core (label `engine`); older versions say `gpu_cache_usage_perc`. */
const running = 'vllm:num_requests_running';
const waiting = 'vllm:num_requests_waiting';
const kvUsage = 'vllm:kv_cache_usage_perc';
const olderKvUsage = 'vllm:gpu_cache_usage_perc';

/**
 * Finds the start time of a process, and the load of an engine when that is wanted, in a Prometheus text exposition
 * that comes in pieces, without keeping them.
 * Format: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export class EngineMetricsScanner {
  readonly #decoder = new TextDecoder();
  readonly #values = new Map<string, { sum: number; count: number }>();
  readonly #wanted: readonly (readonly string[])[];
  #line = '';
  /** Metric of the line before: the series of one come together, so it is complete when another one begins. */
  #current: string | null = null;

  constructor(wantsLoad: boolean) {
    this.#wanted = wantsLoad ? [[startTime], [running], [waiting], [kvUsage, olderKvUsage]] : [[startTime]];
  }

  /** `true` once all that is wanted has been found, so that the rest need not be read. */
  push(chunk: Uint8Array): boolean {
    const lines = (this.#line + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#line = lines.pop()?.slice(0, longestLine) ?? '';
    for (const line of lines) this.#read(line);
    return this.#wanted.every((names) => names.some((name) => this.#isComplete(name)));
  }

  /** The exposition has ended, perhaps without a line end, or need not be read on. */
  end(): EngineMetrics {
    this.#read(this.#line);
    this.#line = '';
    const kv = this.#values.get(kvUsage) ?? this.#values.get(olderKvUsage);
    const load: EngineLoadReading = {
      running: this.#values.get(running)?.sum ?? null,
      waiting: this.#values.get(waiting)?.sum ?? null,
      kvUsage: kv === undefined ? null : kv.sum / kv.count,
    };
    const told = load.running !== null || load.waiting !== null || load.kvUsage !== null;
    const startedAtSecs = this.#values.get(startTime)?.sum ?? 0;
    return { startedAtSecs: startedAtSecs > 0 ? startedAtSecs : null, load: told ? load : null };
  }

  #isComplete(name: string): boolean {
    return this.#values.has(name) && (this.#current !== name || name === startTime);
  }

  #read(line: string): void {
    if (line.startsWith('#')) return;
    const name = /^[^\s{]+/.exec(line)?.[0] ?? null;
    if (name === null) return;
    this.#current = name;
    if (!this.#wanted.some((names) => names.includes(name))) return;
    // Labels may contain anything; what follows the last bracket is the value, and perhaps a time.
    const value = Number(/^\s+(\S+)/.exec(line.slice(Math.max(name.length, line.lastIndexOf('}') + 1)))?.[1]);
    if (!Number.isFinite(value) || value < 0) return;
    const known = this.#values.get(name);
    if (known === undefined) this.#values.set(name, { sum: value, count: 1 });
    else if (name !== startTime) {
      known.sum += value;
      known.count += 1;
    }
  }
}
