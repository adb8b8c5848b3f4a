import { type ServerResponse } from 'node:http';
import { errorCodes } from './error-codes.js';
import { errorBody, type RouterError } from './router-error.js';

export interface ErrorAnswer {
  readonly requestId: string;
  readonly error: RouterError;
  /** The connection cannot be used again (unread upload, shutdown). */
  readonly close?: boolean;
  readonly allow?: string;
}

/** Head and body of an error answer, for whoever writes them. */
export function errorHead(answer: ErrorAnswer, bodyBytes: number): string[] {
  const { error, requestId } = answer;
  const head = ['content-type', 'application/json', 'content-length', String(bodyBytes), 'x-request-id', requestId, 'x-switchyard-error', error.code];
  if (error.retryAfterSecs !== null) head.push('retry-after', String(error.retryAfterSecs));
  if (answer.allow !== undefined) head.push('allow', answer.allow);
  if (answer.close === true) head.push('connection', 'close');
  return head;
}

/** Answers with `error` unless an answer has begun or the connection is gone. Returns the status, or `null`. */
export function writeError(res: ServerResponse, answer: ErrorAnswer): number | null {
  if (res.headersSent || res.destroyed) return null;
  const { status } = errorCodes[answer.error.code];
  const body = errorBody(answer.error);
  res.writeHead(status, errorHead(answer, Buffer.byteLength(body)));
  res.end(body);
  return status;
}
