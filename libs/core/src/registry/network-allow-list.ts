import { formatIpAddress, type IpAddress, parseIpAddress } from './ip-address.js';

export interface Network {
  readonly family: 4 | 6;
  readonly bytes: readonly number[];
  readonly prefixBits: number;
}

export type NetworkParse = { readonly ok: true; readonly network: Network } | { readonly ok: false; readonly reason: string };

/** `never` beats every list: link-local, cloud metadata, multicast and unspecified addresses. */
export type NetworkVerdict = 'allowed' | 'not_listed' | 'never' | 'not_an_address';

export interface NetworkAllowList {
  /** The networks in canonical form, for display. */
  readonly networks: readonly string[];
  /** Judges one IP address (no brackets, no port; IPv4-mapped IPv6 counts as IPv4). O(networks). */
  check(address: string): NetworkVerdict;
}

/** Where engines live unless the operator says otherwise: loopback, RFC 1918, unique local (RFC 4193), RFC 6598. */
export const defaultAllowedNetworks = [
  '127.0.0.0/8',
  '::1/128',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
  '100.64.0.0/10',
] as const;

/**
 * Addresses no list can open. A registration makes the router call its host with the engines' key, so one that names
 * a metadata service would turn the router into a way to it. Several of these lie inside the default list.
 */
const neverAllowed: readonly Network[] = [
  '0.0.0.0/8', // "this network"; Linux connects 0.0.0.0 to loopback
  '169.254.0.0/16', // link-local and the metadata service of most clouds
  '100.100.100.200/32', // Alibaba metadata
  '168.63.129.16/32', // Azure wire server
  '192.0.0.192/32', // Oracle metadata
  '224.0.0.0/4', // multicast
  '255.255.255.255/32',
  '::/128',
  'fe80::/10', // link-local
  'fec0::/10', // deprecated site-local
  'fd00:ec2::/32', // AWS metadata, DNS and time
  'fd20:ce::254/128', // Google metadata
  'fd00:42::42/128', // Scaleway metadata
  'ff00::/8', // multicast
].map(mustParse);

/** Prefixes under which an IPv6 address carries an IPv4 one that a gateway or kernel may connect to instead. */
const ipv4Carriers: readonly { readonly network: Network; readonly at: number }[] = [
  { network: mustParse('64:ff9b::/96'), at: 12 }, // NAT64, RFC 6052
  { network: mustParse('64:ff9b:1::/48'), at: 12 }, // local NAT64, RFC 8215
  { network: mustParse('2002::/16'), at: 2 }, // 6to4, RFC 3056
  { network: mustParse('::/96'), at: 12 }, // IPv4-compatible, RFC 4291
];

/**
 * Reads `address/bits`, or a bare address as a network of one. Refuses host bits after the prefix, because
 * `10.0.0.7/8` is more often a slip for one machine than a wish for sixteen million.
 */
export function parseNetwork(text: string): NetworkParse {
  const [base = '', bits, ...more] = text.split('/');
  const address = parseIpAddress(base);
  if (!address || more.length > 0) return { ok: false, reason: `${JSON.stringify(text)} is not a network such as 10.0.0.0/8 or fd00::/8` };
  const mapped = address.family === 4 && base.includes(':');
  const width = address.family === 4 ? 32 : 128;
  const given = bits === undefined ? width : readPrefix(bits, mapped);
  if (given === null || given < 0 || given > width) return { ok: false, reason: `${JSON.stringify(text)}: the prefix length must be 0 to ${width}` };
  const network = { family: address.family, bytes: masked(address.bytes, given), prefixBits: given };
  if (network.bytes.some((byte, at) => byte !== address.bytes[at])) {
    return { ok: false, reason: `${JSON.stringify(text)} has bits after the prefix; write ${formatNetwork(network)} or ${formatIpAddress(address)}/${width}` };
  }
  return { ok: true, network };
}

/** The canonical text of a network, as `parseNetwork` reads it. */
export function formatNetwork(network: Network): string {
  return `${formatIpAddress(network)}/${network.prefixBits}`;
}

/** The allow-list over `networks` (an empty one allows nothing). */
export function networkAllowList(networks: readonly Network[]): NetworkAllowList {
  return {
    networks: networks.map(formatNetwork),
    check(text) {
      const address = parseIpAddress(text);
      if (!address) return 'not_an_address';
      if (isNever(address)) return 'never';
      return networks.some((network) => contains(network, address)) ? 'allowed' : 'not_listed';
    },
  };
}

function isNever(address: IpAddress): boolean {
  if (neverAllowed.some((network) => contains(network, address))) return true;
  const carrier = ipv4Carriers.find(({ network }) => contains(network, address));
  if (!carrier || isLoopback6(address)) return false;
  const inner: IpAddress = { family: 4, bytes: address.bytes.slice(carrier.at, carrier.at + 4) };
  return neverAllowed.some((network) => contains(network, inner));
}

function isLoopback6({ family, bytes }: IpAddress): boolean {
  return family === 6 && bytes[15] === 1 && bytes.slice(0, 15).every((byte) => byte === 0);
}

function contains(network: Network, address: IpAddress): boolean {
  if (network.family !== address.family) return false;
  return masked(address.bytes, network.prefixBits).every((byte, at) => byte === network.bytes[at]);
}

function masked(bytes: readonly number[], prefixBits: number): number[] {
  return bytes.map((byte, at) => {
    const kept = Math.min(8, Math.max(0, prefixBits - 8 * at));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}

function readPrefix(text: string, mapped: boolean): number | null {
  if (!/^(?:0|[1-9]\d{0,2})$/.test(text)) return null;
  return mapped ? Number(text) - 96 : Number(text);
}

function mustParse(text: string): Network {
  const parsed = parseNetwork(text);
  if (!parsed.ok) throw new TypeError(parsed.reason);
  return parsed.network;
}
