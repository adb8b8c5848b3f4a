import { type ErrorCode, errorCodes } from './error-codes.js';

/** An answer the router makes by itself. */
export interface RouterError {
  readonly code: ErrorCode;
  /** Tells the reader what to do. Never holds a prompt or a key. */
  readonly message: string;
  readonly param: string | null;
  readonly retryAfterSecs: number | null;
}

export function routerError(code: ErrorCode, message: string, more: { param?: string; retryAfterSecs?: number } = {}): RouterError {
  return { code, message, param: more.param ?? null, retryAfterSecs: more.retryAfterSecs ?? null };
}

/** The OpenAI error object as JSON text. */
export function errorBody(error: RouterError): string {
  const { code, message, param } = error;
  return JSON.stringify({ error: { message, type: errorCodes[code].type, param, code } });
}

/** One event of a stream that carries the error; complete with its blank line. */
export function errorEvent(error: RouterError): string {
  return `data: ${errorBody(error)}\n\n`;
}
