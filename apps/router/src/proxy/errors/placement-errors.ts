import { type PoolCounts, type Unavailable } from '@switchyard/core';
import { type RouterError, routerError } from './router-error.js';

export function workerEvicted(): RouterError {
  return routerError('worker_evicted', 'an operator removed the worker that ran this request; try again');
}

/** Why a request could not be placed at all. */
export function unavailableError({ cause, counts }: Unavailable, model: string | null): RouterError {
  if (cause === 'model_not_found') {
    return routerError('model_not_found', `the model ${JSON.stringify(shortened(model ?? ''))} does not exist here; GET /v1/models lists those that do`, { param: 'model' });
  }
  return routerError('no_available_workers', unavailableText(counts), { retryAfterSecs: 1 });
}

function unavailableText({ prefill, decode, regular, group }: PoolCounts): string {
  const of = ({ selectable, total }: PoolCounts['prefill']) => `${selectable}/${total}`;
  const where = group === null ? '' : ` (group ${group})`;
  return `no available workers: prefill ${of(prefill)}, decode ${of(decode)}, regular ${of(regular)} selectable${where}`;
}

function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
