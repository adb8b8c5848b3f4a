import { formatIpAddress, parseIpAddress } from './ip-address.js';

export type EndpointScheme = 'http' | 'https';

export type EndpointParse =
  | {
      readonly ok: true;
      /** `scheme://host:port`, the one spelling of this base URL. */
      readonly endpoint: string;
      readonly scheme: EndpointScheme;
      /** Host without brackets: a canonical IP address or a lower-case name. */
      readonly host: string;
      readonly hostKind: 'ip' | 'name';
      readonly port: number;
    }
  | { readonly ok: false; readonly reason: string };

export type HostParse =
  | { readonly ok: true; readonly host: string; readonly hostKind: 'ip' | 'name' }
  | { readonly ok: false; readonly reason: string };

const longestEndpoint = 320;
const defaultPorts: Readonly<Record<EndpointScheme, number>> = { http: 80, https: 443 };
const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
/** A last label like this makes URL parsers and `inet_aton` read the whole name as an IPv4 address. */
const numberLike = /^(?:\d+|0x[0-9a-f]*)$/;

/**
 * Reads the base URL of an engine, as `host:port` or with `http://` or `https://`, and gives its canonical form:
 * scheme and host lower-case, port explicit, no path, IPv6 in brackets. Two spellings of one address give one endpoint.
 *
 * Without a scheme the port is required and `http` is meant; with one it defaults to 80 or 443. IPv6 may come bare, as
 * vLLM builds it (`get_ip() + ":" + port`): the group after the last colon is the port. One trailing slash is dropped.
 * Host names are kept, `localhost` too; nothing is resolved here. Everything else is refused with a reason for humans.
 */
export function parseEndpoint(text: string): EndpointParse {
  if (text === '') return refused('it is empty');
  if (text.length > longestEndpoint) return refused(`it is longer than ${longestEndpoint} characters`);
  if (/[^\x21-\x7e]/.test(text)) return refused('it has spaces, control or non-ASCII characters');

  const split = splitScheme(text);
  if (!split.ok) return split;
  const authority = split.rest.endsWith('/') ? split.rest.slice(0, -1) : split.rest;
  const stray = /[/?#\\]/.exec(authority);
  if (stray) return refused(`only scheme, host and port are taken, not ${JSON.stringify(authority.slice(stray.index))}`);
  if (authority.includes('@')) return refused('user names and passwords are not taken');

  const parts = splitPort(authority);
  if (!parts.ok) return parts;
  const host = canonicalHost(parts.host);
  if (!host.ok) return host;
  if (parts.port === null && !split.explicit) return refused('the port is missing');
  const port = parts.port === null ? defaultPorts[split.scheme] : readPort(parts.port);
  if (port === null) return refused(`the port must be 1 to 65535, not ${JSON.stringify(parts.port)}`);

  const shown = host.host.includes(':') ? `[${host.host}]` : host.host;
  return {
    ok: true,
    endpoint: `${split.scheme}://${shown}:${port}`,
    scheme: split.scheme,
    host: host.host,
    hostKind: host.hostKind,
    port,
  };
}

/**
 * Canonical form of a host without brackets: an IP address (IPv4-mapped IPv6 becomes the IPv4 it means) or a lower-case
 * name without its trailing dot. Refuses zone ids, the unspecified address, and every name that some resolver would
 * read as a number (`2130706433`, `0177.0.0.1`, `0x7f.1`), since it would pass an allow-list as a name and connect as
 * an address.
 */
export function canonicalHost(text: string): HostParse {
  if (text === '') return refused('the host is missing');
  if (text.includes('%')) return refused('IPv6 zone ids and percent-encoding are not taken: they mean something on one machine only');
  const address = parseIpAddress(text);
  if (address) {
    if (address.bytes.every((byte) => byte === 0)) return refused(`${text} means any address, not one that can be called`);
    return { ok: true, host: formatIpAddress(address), hostKind: 'ip' };
  }
  if (text.includes(':')) return refused(`${JSON.stringify(text)} is not an IPv6 address; write it as [address]:port`);
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase();
  const labels = name.split('.');
  if (numberLike.test(labels.at(-1) ?? '')) return refused(`${JSON.stringify(text)} is not an IPv4 address of four decimal numbers`);
  if (name.length > 253 || !labels.every((part) => label.test(part))) return refused(`${JSON.stringify(text)} is not a host name`);
  return { ok: true, host: name, hostKind: 'name' };
}

function splitScheme(text: string):
  | { readonly ok: true; readonly scheme: EndpointScheme; readonly rest: string; readonly explicit: boolean }
  | { readonly ok: false; readonly reason: string } {
  const explicit = /^(https?):\/\//i.exec(text);
  if (explicit) {
    const scheme = explicit[1]?.toLowerCase() === 'https' ? 'https' : 'http';
    return { ok: true, scheme, rest: text.slice(explicit[0].length), explicit: true };
  }
  const other = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text);
  if (other) return refused(`the scheme must be http or https, not ${JSON.stringify(other[1])}`);
  return { ok: true, scheme: 'http', rest: text, explicit: false };
}

function splitPort(authority: string):
  | { readonly ok: true; readonly host: string; readonly port: string | null }
  | { readonly ok: false; readonly reason: string } {
  if (authority.startsWith('[')) {
    const bracketed = /^\[([^[\]]*)\](?::(.*))?$/.exec(authority);
    if (!bracketed) return refused('the brackets of an IPv6 address do not match');
    const host = bracketed[1] ?? '';
    if (!host.includes(':')) return refused('brackets are for IPv6 addresses only');
    return { ok: true, host, port: bracketed[2] ?? null };
  }
  const colon = authority.lastIndexOf(':');
  if (colon < 0) return { ok: true, host: authority, port: null };
  return { ok: true, host: authority.slice(0, colon), port: authority.slice(colon + 1) };
}

function readPort(text: string): number | null {
  if (!/^[1-9]\d{0,4}$/.test(text)) return null;
  const port = Number(text);
  return port <= 65_535 ? port : null;
}

function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
