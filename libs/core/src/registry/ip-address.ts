/** An IP address as numbers: 4 bytes for IPv4, 16 for IPv6. An IPv4-mapped IPv6 address is held as the IPv4 it means. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bytes: readonly number[];
}

const decimalOctet = /^(?:0|[1-9]\d{0,2})$/;
const hexGroup = /^[0-9a-f]{1,4}$/i;

/**
 * Reads one IPv4 or IPv6 address without brackets; `null` for anything else, empty text included.
 *
 * IPv4 takes four plain decimal octets and nothing more. The other spellings `inet_aton` knows (octal, hexadecimal,
 * fewer than four parts, one big number) are refused, because readers disagree about them and an address that two
 * programs read differently gets past an allow-list. IPv6 is the text form of RFC 4291 section 2.2; zone ids are refused.
 */
export function parseIpAddress(text: string): IpAddress | null {
  if (!text.includes(':')) {
    const bytes = ipv4Bytes(text);
    return bytes && { family: 4, bytes };
  }
  const bytes = ipv6Bytes(text);
  if (bytes === null) return null;
  return isMapped(bytes) ? { family: 4, bytes: bytes.slice(12) } : { family: 6, bytes };
}

/** The canonical text: dotted decimal, or RFC 5952 (lower case, the longest run of zero groups shortened), no brackets. */
export function formatIpAddress({ family, bytes }: IpAddress): string {
  if (family === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => groupAt(bytes, at));
  const { start, length } = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

function groupAt(bytes: readonly number[], at: number): number {
  return (bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0);
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let run = { start: 0, length: 0 };
  groups.forEach((group, at) => {
    run = group === 0 ? { start: run.length === 0 ? at : run.start, length: run.length + 1 } : { start: 0, length: 0 };
    if (run.length > best.length) best = run;
  });
  return best;
}

function ipv4Bytes(text: string): number[] | null {
  const parts = text.split('.');
  if (parts.length !== 4) return null;
  const bytes: number[] = [];
  for (const part of parts) {
    const value = Number(part);
    if (!decimalOctet.test(part) || value > 255) return null;
    bytes.push(value);
  }
  return bytes;
}

function ipv6Bytes(text: string): number[] | null {
  const halves = text.split('::');
  const [head = '', tail] = halves;
  if (halves.length > 2) return null;
  const before = groupBytes(head, tail === undefined);
  const after = tail === undefined ? [] : groupBytes(tail, true);
  if (before === null || after === null) return null;
  const missing = 16 - before.length - after.length;
  // `::` stands for at least one group; without it there must be exactly eight.
  if (tail === undefined ? missing !== 0 : missing < 2) return null;
  return [...before, ...new Array<number>(missing).fill(0), ...after];
}

function groupBytes(text: string, atEnd: boolean): number[] | null {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [at, group] of groups.entries()) {
    if (hexGroup.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
      continue;
    }
    const dotted = atEnd && at === groups.length - 1 ? ipv4Bytes(group) : null;
    if (dotted === null) return null;
    bytes.push(...dotted);
  }
  return bytes;
}

function isMapped(bytes: readonly number[]): boolean {
  return bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
}
