import type { WorkerView } from '@switchyard/core/contracts';

import { statusOf } from '../../parts/worker-status.js';

export interface WorkerFilter {
  /** `null` = all. */
  readonly role: WorkerView['role'] | null;
  /** Words that must all occur in its id, endpoint, models, group, state, sources or engine version. */
  readonly text: string;
  readonly hideHealthy: boolean;
}

export function filterWorkers(workers: readonly WorkerView[], { role, text, hideHealthy }: WorkerFilter): WorkerView[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return workers.filter(
    (worker) =>
      (role === null || worker.role === role) &&
      (!hideHealthy || isOdd(worker)) &&
      (words.length === 0 || words.every((word) => haystackOf(worker).includes(word))),
  );
}

const isOdd = (worker: WorkerView): boolean => statusOf(worker).tone !== 'ready' || worker.flaps.flapping;

const haystackOf = (worker: WorkerView): string =>
  [
    worker.id,
    worker.endpoint,
    worker.group,
    statusOf(worker).word,
    worker.connector.kind,
    worker.engine?.version ?? '',
    worker.flaps.flapping ? 'flapping' : '',
    ...worker.models,
    ...worker.sources,
  ]
    .join(' ')
    .toLowerCase();
