import { type ConnectorName } from './connector-name.js';

/** Where the KV side channel listens, and how the connector spells that address. */
export interface KvAddress {
  readonly host: string;
  /** 0 until the side channel is bound. */
  readonly port: number;
  /** MoRI-IO's notify port; `null` for the plain `host:port` form. */
  readonly notifyPort: number | null;
}

function portOf(text: string): number | null {
  if (!/^\d{1,5}$/.test(text)) return null;
  const port = Number(text);
  return port <= 65_535 ? port : null;
}

/** Splits at the last colon, as vLLM does; brackets of an IPv6 host are dropped. */
export function splitHostPort(text: string): { readonly host: string; readonly port: number } | null {
  const colon = text.lastIndexOf(':');
  if (colon <= 0) return null;
  const port = portOf(text.slice(colon + 1));
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return port === null || host === '' ? null : { host, port };
}

/** Splits `host:H,handshake:P,notify:N` on commas, then on the first colon of each part. */
export function parseMoriioAddress(text: string): KvAddress | null {
  const parts = new Map<string, string>();
  for (const part of text.split(',')) {
    const colon = part.indexOf(':');
    if (colon <= 0) return null;
    parts.set(part.slice(0, colon), part.slice(colon + 1));
  }
  const host = parts.get('host');
  const port = portOf(parts.get('handshake') ?? '');
  const notifyPort = portOf(parts.get('notify') ?? '');
  if (host === undefined || host === '' || port === null || notifyPort === null || parts.size !== 3) return null;
  return { host, port, notifyPort };
}

/** Reads the side channel's address in the form of `connector`; `text` null asks for a free port on loopback. */
export function parseKvAddress(text: string | null, connector: ConnectorName): KvAddress | null {
  const moriio = connector === 'moriio';
  if (text === null) return { host: '127.0.0.1', port: 0, notifyPort: moriio ? 61_005 : null };
  if (moriio) return parseMoriioAddress(text);
  const plain = splitHostPort(text);
  return plain === null ? null : { ...plain, notifyPort: null };
}

export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The text that goes into pings and request ids. */
export function kvAddressText(address: KvAddress): string {
  return address.notifyPort === null
    ? joinHostPort(address.host, address.port)
    : `host:${address.host},handshake:${address.port},notify:${address.notifyPort}`;
}
