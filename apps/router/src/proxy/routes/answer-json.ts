import { type ClientExchange } from '../client/client-exchange.js';

/** Answers with a JSON value in one write; node leaves the body out for HEAD. Returns the status. */
export function answerJson({ res, requestId }: ClientExchange, status: number, value: unknown): number {
  const body = JSON.stringify(value);
  res.writeHead(status, ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body)), 'x-request-id', requestId]);
  res.end(body);
  return status;
}
