import { discardBody } from '../client/body-reader.js';
import { type ClientExchange } from '../client/client-exchange.js';
import { type CoarseWheel } from '../upstream/coarse-wheel.js';
import { errorCodes } from './error-codes.js';
import { errorBody, type RouterError } from './router-error.js';
import { errorHead, writeError } from './write-error.js';

/** An unread upload up to this size is read past, and the connection stays usable. */
const readPastBytes = 65_536;

/**
 * Answers a request whose body was not (wholly) read. A large upload goes on while the answer is already there: it is
 * discarded for a while, because closing at once would reset the connection before the client has read the answer.
 * Resolves, with the status, when the answer is complete.
 */
export async function refuse(exchange: ClientExchange, error: RouterError, wheel: CoarseWheel, awaitsContinue = false): Promise<number | null> {
  const { req, res, requestId } = exchange;
  if (res.headersSent || res.destroyed) return null;
  const announced = req.headers['content-length'];
  const unread = !req.complete && (announced !== undefined || req.headers['transfer-encoding'] !== undefined);
  const small = announced !== undefined && Number(announced) <= readPastBytes;
  if (!unread || (small && !awaitsContinue)) return writeError(res, { requestId, error });
  if (awaitsContinue) return writeError(res, { requestId, error, close: true });
  const { status } = errorCodes[error.code];
  const body = errorBody(error);
  res.writeHead(status, errorHead({ requestId, error, close: true }, Buffer.byteLength(body)));
  res.write(body);
  await discardBody(exchange, wheel);
  res.end();
  return status;
}
