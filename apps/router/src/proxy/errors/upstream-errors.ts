import { type PoolCounts, type TransportFault, type Unavailable } from '@switchyard/core';
import { type RouterError, routerError } from './router-error.js';

/** What a client is told when engines failed it before its answer began, and none of them left an answer. */
export function faultError(fault: TransportFault): RouterError {
  switch (fault) {
    case 'connect_refused':
      return routerError('upstream_unreachable', 'no engine could be reached for this request; try again, and if it goes on ask the operator to check the workers');
    case 'reset':
      return routerError('upstream_unreachable', 'the engine closed the connection before it answered; try again');
    case 'connect_timeout':
      return routerError('upstream_timeout', 'connecting to the engine took too long; try again', { param: 'connect' });
    case 'first_byte_timeout':
      return routerError('upstream_timeout', 'the engine did not begin its answer in time; try again later or with a shorter prompt', { param: 'first_byte' });
    case 'idle_timeout':
      return routerError('upstream_timeout', 'the engine stopped in the middle of its answer; try again', { param: 'idle' });
    case 'total_timeout':
      return routerError('upstream_timeout', 'the request took longer than the router allows; ask for fewer tokens or have --request-timeout-secs raised', { param: 'total' });
    case 'invalid_response':
      return routerError('upstream_invalid_response', 'the engine answered with something that is not a valid response; try again, and if it goes on ask the operator to check the workers');
    case 'revoked':
      return workerEvicted();
  }
}

/** What a stream ends with when its engine failed in the middle of it. */
export function streamError(fault: TransportFault): RouterError {
  if (fault === 'idle_timeout') return routerError('upstream_stream_error', 'the engine stopped sending in the middle of the answer; the answer is incomplete', { param: 'idle' });
  if (fault === 'total_timeout') return routerError('upstream_stream_error', 'the request took longer than the router allows; the answer is incomplete', { param: 'total' });
  return routerError('upstream_stream_error', 'the connection to the engine broke in the middle of the answer; the answer is incomplete');
}

export function workerEvicted(): RouterError {
  return routerError('worker_evicted', 'an operator removed the worker that ran this request; try again');
}

export function shuttingDown(): RouterError {
  return routerError('shutting_down', 'the router is shutting down; send the request to another instance or try again shortly');
}

/** What a stream ends with when the router stops before it is complete. */
export function cutByShutdown(): RouterError {
  return routerError('upstream_stream_error', 'the router was shut down in the middle of the answer; the answer is incomplete');
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
