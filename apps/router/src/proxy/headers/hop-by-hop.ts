/** Headers that belong to one connection (RFC 9110 section 7.6.1, with the older ones still in use). */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether `name` (lower-case) stays on its connection, by itself or because that connection's header names it. */
export function isHopByHop(name: string, named: ReadonlySet<string> | null): boolean {
  return hopByHop.has(name) || (named !== null && named.has(name));
}

/** Header names (lower-case) that a `Connection` header lists; `null` for the usual `keep-alive` and `close`. */
export function namedByConnection(value: string | undefined): ReadonlySet<string> | null {
  if (value === undefined || value === 'keep-alive' || value === 'close') return null;
  return new Set(value.toLowerCase().split(',').map((name) => name.trim()));
}
