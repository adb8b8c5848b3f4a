import type { ConsequencesView, RemovalAction, WorkerView } from '@switchyard/core/contracts';

import { useAdmin } from '../api/queries.js';
import { useWorkers } from '../live/use-workers.js';
import { type Consequence, consequencesFrom, consequencesOf } from './consequences.js';

/** What an action on these workers would mean now: of one by the router's word, of several by the picture. */
export function useConsequences(action: RemovalAction, targets: readonly WorkerView[]): readonly Consequence[] {
  const all = useWorkers();
  const [first] = targets;
  const isOne = targets.length === 1;
  const view = useAdmin<ConsequencesView>(`/api/v1/workers/${encodeURIComponent(first?.id ?? '')}/consequences?action=${action}`, { everyMs: 2000, enabled: isOne }).data;
  return isOne && first !== undefined && view !== undefined ? consequencesFrom(view, first.role) : consequencesOf(targets, all);
}
