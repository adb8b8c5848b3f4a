import { type Fleet } from '../pools/fleet.js';
import { type Worker } from '../workers/worker.js';
import { type FailedPair } from './scheduler-port.js';

/** What has failed one request so far. */
export class Failures {
  /** Those that failed by themselves. */
  readonly workers: ReadonlySet<Worker>;
  /** Prefill workers by the decode worker that failed on their hand-off. */
  readonly #pairs: ReadonlyMap<Worker, ReadonlySet<Worker>>;
  readonly #prefills: ReadonlySet<Worker>;

  constructor(workers: ReadonlySet<Worker>, pairs: ReadonlyMap<Worker, ReadonlySet<Worker>> = new Map()) {
    this.workers = workers;
    this.#pairs = pairs;
    this.#prefills = new Set([...pairs.values()].flatMap((prefills) => [...prefills]));
  }

  get none(): boolean {
    return this.workers.size === 0 && this.#pairs.size === 0;
  }

  /** It failed, by itself or on a hand-off that may have been at fault. */
  hasFailed(worker: Worker): boolean {
    return this.workers.has(worker) || this.#pairs.has(worker);
  }

  /** Decode failed on a hand-off between the two. */
  hasFailedPair(prefill: Worker, decode: Worker): boolean {
    return this.#pairs.get(decode)?.has(prefill) === true;
  }

  /** It was one of a pair that failed. */
  wasInFailedPair(worker: Worker): boolean {
    return this.#pairs.has(worker) || this.#prefills.has(worker);
  }
}

export const noFailures = new Failures(new Set());

/** What the data plane says has failed; workers that nobody remembers are left out. */
export function failuresOf(fleet: Fleet, exclude: readonly string[], failedPairs: readonly FailedPair[]): Failures {
  if (exclude.length === 0 && failedPairs.length === 0) return noFailures;
  const workers = new Set<Worker>();
  for (const id of exclude) {
    const worker = fleet.byId(id);
    if (worker !== undefined) workers.add(worker);
  }
  const pairs = new Map<Worker, Set<Worker>>();
  for (const { prefill, decode } of failedPairs) {
    const to = fleet.byId(decode);
    if (to === undefined) continue;
    const prefills = pairs.get(to) ?? new Set();
    const from = fleet.byId(prefill);
    if (from !== undefined) prefills.add(from);
    pairs.set(to, prefills);
  }
  return new Failures(workers, pairs);
}
