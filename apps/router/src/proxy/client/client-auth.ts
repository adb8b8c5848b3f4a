import { createHash, timingSafeEqual } from 'node:crypto';
import { type IncomingMessage } from 'node:http';
import { type RouterError, routerError } from '../errors/router-error.js';

/**
 * Whether the request presents one of `keys` as bearer token or `x-api-key`. Every key is compared in full, by digest,
 * so that the time taken tells nothing of a key or its length. No keys: everybody may.
 */
export function clientAuth(keys: readonly string[]): (req: IncomingMessage) => boolean {
  if (keys.length === 0) return () => true;
  const digests = keys.map(digest);
  return (req) => {
    const presented = presentedKey(req);
    if (presented === null) return false;
    const candidate = digest(presented);
    let known = false;
    for (const key of digests) known = timingSafeEqual(key, candidate) || known;
    return known;
  };
}

/** What a request without a valid key is told. */
export function keyNeeded(): RouterError {
  return routerError('invalid_api_key', 'a valid API key is needed; send it as "Authorization: Bearer <key>"');
}

function presentedKey(req: IncomingMessage): string | null {
  const { authorization } = req.headers;
  if (authorization !== undefined) {
    const bearer = /^bearer +(\S+) *$/i.exec(authorization);
    return bearer?.[1] ?? null;
  }
  const header = req.headers['x-api-key'];
  return typeof header === 'string' && header !== '' ? header : null;
}

function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
