import { type TransportFault } from '@switchyard/core';
import { workerEvicted } from './placement-errors.js';
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
