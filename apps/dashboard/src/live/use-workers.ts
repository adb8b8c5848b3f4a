import type { WorkerView } from '@switchyard/core/contracts';
import { useMemo } from 'react';

import { useLive } from './live-store.js';

const nobody: ReadonlyMap<string, WorkerView> = new Map();

/** All current workers: prefill, decode, regular, each by generation. */
export function useWorkers(): readonly WorkerView[] {
  const workers = useLive((state) => state.picture?.workers ?? nobody);
  return useMemo(() => [...workers.values()].sort((a, b) => order[a.role] - order[b.role] || a.generation - b.generation), [workers]);
}

const order: Readonly<Record<WorkerView['role'], number>> = { prefill: 0, decode: 1, regular: 2 };
