import { type CacheStats, type Cluster, roles, type Worker } from '@switchyard/core';
import { Counter, Gauge, type Registry } from 'prom-client';

/** The prefix indexes of the policies that keep one, read when scraped. */
export function registerPrefixIndexMetrics(registry: Registry, cluster: Cluster, knowsModel: (name: string) => boolean): void {
  const registers = [registry];
  new Gauge({
    name: 'switchyard_prefix_index_covered_bytes',
    help: 'Prompt bytes that some worker is believed to hold, counted once.',
    labelNames: ['role', 'model'],
    registers,
    collect() {
      this.reset();
      for (const role of roles) {
        // Models that clients made up share one series.
        for (const { model, coveredBytes } of statsOf(cluster, role)) this.inc({ role, model: knowsModel(model) ? model : 'unknown' }, coveredBytes);
      }
    },
  });
  const total = (name: string, help: string, field: 'hits' | 'misses' | 'evictions'): void => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        for (const role of roles) for (const stats of statsOf(cluster, role)) this.inc(stats[field]);
      },
    });
  };
  total('switchyard_prefix_index_hits_total', 'Requests whose chosen worker held at least one block of the prompt.', 'hits');
  total('switchyard_prefix_index_misses_total', 'Requests with a prompt whose chosen worker held none of it.', 'misses');
  total('switchyard_prefix_index_evictions_total', 'Runs of blocks that a worker lost to the bound of the index.', 'evictions');
}

function statsOf(cluster: Cluster, role: (typeof roles)[number]): readonly CacheStats<Worker>[] {
  return cluster.fleet.pools[role].policy.affinity?.cacheStats() ?? [];
}
