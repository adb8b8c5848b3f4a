import { Inject, Injectable } from '@nestjs/common';
import { type Cluster, type Worker } from '@switchyard/core';
import { type ModelEntry } from './health-prober.js';
import { CLUSTER } from './pools.service.js';

/** What the engines say of the models they serve, kept by worker so that it goes when the worker goes. */
@Injectable()
export class ModelDirectory {
  readonly #cluster: Cluster;
  readonly #entries = new WeakMap<Worker, ReadonlyMap<string, ModelEntry>>();

  constructor(@Inject(CLUSTER) cluster: Cluster) {
    this.#cluster = cluster;
  }

  learn(workerId: string, entries: readonly ModelEntry[]): void {
    const worker = this.#cluster.fleet.byId(workerId);
    if (worker !== undefined) this.#entries.set(worker, new Map(entries.map((entry) => [entry.id, entry])));
  }

  /** Models of current workers; an id comes once per worker that serves it, with its entry where one is known. */
  *listed(): Iterable<{ readonly id: string; readonly entry: ModelEntry | null }> {
    for (const worker of this.#cluster.fleet.workers()) {
      const entries = this.#entries.get(worker);
      for (const id of worker.models ?? []) yield { id, entry: entries?.get(id) ?? null };
    }
  }
}
