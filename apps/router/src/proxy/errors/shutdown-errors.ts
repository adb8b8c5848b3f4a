import { type RouterError, routerError } from './router-error.js';

export function shuttingDown(): RouterError {
  return routerError('shutting_down', 'the router is shutting down; send the request to another instance or try again shortly');
}

/** What a stream ends with when the router stops before it is complete. */
export function cutByShutdown(): RouterError {
  return routerError('upstream_stream_error', 'the router was shut down in the middle of the answer; the answer is incomplete');
}
