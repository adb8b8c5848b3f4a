import { randomBytes } from 'node:crypto';
import { type RouteTemplate } from './proxy-telemetry.js';

/** Visible ASCII only: the id goes into logs, headers and engine request ids. */
const sane = /^[\x21-\x7e]{1,128}$/;

const prefixes: Partial<Record<RouteTemplate, string>> = { '/v1/chat/completions': 'chatcmpl-', '/v1/completions': 'cmpl-' };

/** The client's own request id when it is safe to repeat, else a new one named after the route. */
export function requestIdFor(header: string | string[] | undefined, route: RouteTemplate): string {
  if (typeof header === 'string' && sane.test(header)) return header;
  return `${prefixes[route] ?? 'req-'}${hex(12)}`;
}

let pool = randomBytes(4096);
let used = 0;

/** `bytes` random bytes in lower-case hex. Drawn from a pool: one system call serves hundreds of ids. */
export function hex(bytes: number): string {
  if (used + bytes > pool.length) {
    pool = randomBytes(4096);
    used = 0;
  }
  const text = pool.toString('hex', used, used + bytes);
  used += bytes;
  return text;
}
