import { monitorEventLoopDelay } from 'node:perf_hooks';

import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

const resolutionMs = 10;
const quantiles = [0.5, 0.99, 1] as const;

/** Metrics of the process under their usual names, and how late the event loop is; returns a stop. */
export function registerProcessMetrics(registry: Registry): () => void {
  collectDefaultMetrics({ register: registry });
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  new Gauge({
    name: 'switchyard_event_loop_delay_seconds',
    help: 'How late the event loop ran its timers since the last scrape.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of quantiles) {
        // What is measured is the time between two ticks of a timer, its interval included.
        const lateMs = delay.count === 0 ? 0 : Math.max(0, delay.percentile(quantile * 100) / 1e6 - resolutionMs);
        this.set({ quantile }, lateMs / 1000);
      }
      delay.reset();
    },
  });
  return () => delay.disable();
}
