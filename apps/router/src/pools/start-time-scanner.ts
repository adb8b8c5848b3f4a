const metric = 'process_start_time_seconds';
/** Longer than any line that can matter: the metric's name, labels and value. */
const longestLine = 4096;

/**
 * Finds the start time of a process in a Prometheus text exposition that comes in pieces, without keeping them.
 * Format: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export class StartTimeScanner {
  readonly #decoder = new TextDecoder();
  #line = '';

  /** Unix seconds once the line is complete, `null` before. */
  push(chunk: Uint8Array): number | null {
    const lines = (this.#line + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#line = lines.pop()?.slice(0, longestLine) ?? '';
    for (const line of lines) {
      const found = startTimeIn(line);
      if (found !== null) return found;
    }
    return null;
  }

  /** The exposition has ended, perhaps without a line end. */
  end(): number | null {
    return startTimeIn(this.#line);
  }
}

function startTimeIn(line: string): number | null {
  if (!line.startsWith(metric)) return null;
  const match = /^\s*(?:\{[^}]*\})?\s+(\S+)/.exec(line.slice(metric.length));
  const secs = Number(match?.[1]);
  return Number.isFinite(secs) && secs > 0 ? secs : null;
}
