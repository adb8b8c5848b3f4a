export type ErrorType = 'invalid_request_error' | 'authentication_error' | 'rate_limit_error' | 'server_error';

interface ErrorKind {
  readonly status: number;
  readonly type: ErrorType;
}

const badRequest = (status: number): ErrorKind => ({ status, type: 'invalid_request_error' });
const serverError = (status: number): ErrorKind => ({ status, type: 'server_error' });

/** Every error the API port makes by itself: the closed vocabulary of `x-switchyard-error` and `error.code`. */
export const errorCodes = {
  invalid_json: badRequest(400),
  invalid_request: badRequest(400),
  invalid_api_key: { status: 401, type: 'authentication_error' },
  model_not_found: badRequest(404),
  not_found: badRequest(404),
  method_not_allowed: badRequest(405),
  request_timeout: badRequest(408),
  body_too_large: badRequest(413),
  unsupported_media_type: badRequest(415),
  headers_too_large: badRequest(431),
  queue_full: { status: 429, type: 'rate_limit_error' },
  internal_error: serverError(500),
  upstream_unreachable: serverError(502),
  upstream_invalid_response: serverError(502),
  queue_timeout: serverError(503),
  no_available_workers: serverError(503),
  shutting_down: serverError(503),
  worker_evicted: serverError(503),
  upstream_timeout: serverError(504),
  /** Only ever an event inside a stream whose status is already sent. */
  upstream_stream_error: serverError(500),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorCodes;
