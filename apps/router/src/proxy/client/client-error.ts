import { type Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import { type ClientExchange } from './client-exchange.js';
import { type ErrorCode, errorCodes } from '../errors/error-codes.js';
import { errorBody, type RouterError, routerError } from '../errors/router-error.js';
import { errorHead } from '../errors/write-error.js';
import { requestIdFor } from '../request-ids.js';

/**
 * Answers bytes that are no HTTP request, or not the body that its head announced. With a response under way on the
 * connection there is nothing to say.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket, open: readonly ClientExchange[]): void {
  const [exchange, next] = open;
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const answer = clientFault(error.code);
  if (exchange !== undefined) {
    const uploading = next === undefined && !exchange.req.complete && !exchange.res.headersSent;
    // The end of the connection in the middle of a body is a client that left.
    if (!uploading || error.code === 'HPE_INVALID_EOF_STATE') {
      socket.destroy();
    } else if (exchange.fault === null) {
      exchange.fault = answer;
      exchange.end('client_gone');
    }
    return;
  }
  const body = errorBody(answer);
  const { status } = errorCodes[answer.code];
  const head = errorHead({ requestId: requestIdFor(undefined, 'other'), error: answer, close: true }, Buffer.byteLength(body));
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let i = 0; i + 1 < head.length; i += 2) text += `${head[i] ?? ''}: ${head[i + 1] ?? ''}\r\n`;
  socket.end(`${text}\r\n${body}`);
}

function clientFault(code: string | undefined): RouterError {
  const of = (kind: ErrorCode, message: string) => routerError(kind, message);
  if (code === 'HPE_HEADER_OVERFLOW') return of('headers_too_large', 'the request headers are larger than 16 KiB; send less');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return of('request_timeout', 'the request headers came too slowly; send the request again');
  return of('invalid_request', 'this is not a valid HTTP/1.1 request');
}
