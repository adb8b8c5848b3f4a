import { type IncomingMessage } from 'node:http';
import { type RouterError, routerError } from '../errors/router-error.js';

/** Why the body that these headers announce cannot be read; `null` = it can. */
export function mediaTypeFault(req: IncomingMessage): RouterError | null {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return routerError('unsupported_media_type', 'encoded request bodies are not read here; send the body without Content-Encoding');
  }
  const type = req.headers['content-type'];
  if (type === undefined || type === 'application/json') return null;
  const essence = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (essence === 'application/json' || /^application\/[\w.-]+\+json$/.test(essence)) return null;
  return routerError('unsupported_media_type', 'send the request body as JSON, with Content-Type: application/json');
}
