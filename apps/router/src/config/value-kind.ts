import { formatNetwork, parseIpAddress, parseNetwork } from '@switchyard/core';
import { z } from 'zod';

/** How the text of one value is read, whatever source it came from, and how that is told to people. */
export interface ValueKind<T> {
  readonly schema: z.ZodType<T, string>;
  /** Completes "must be …". */
  readonly allowed: string;
  /** Stands for the value in `--help`. */
  readonly placeholder: string;
  /** The value as one would write it; `String` where absent. */
  show?(value: T): string;
}

/** zod's own message of a failed check: `allowed` explains it well enough. */
export const unexplained = 'Invalid input';

/** setTimeout counts in a signed 32-bit number of milliseconds and fires at once beyond it. */
const longestTimerSecs = 2_000_000;
const shortestTimerSecs = 0.05;

const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): ValueKind<number> {
  return {
    schema: z.string().regex(/^[+-]?\d+$/).transform(Number).pipe(z.number().int().min(min).max(max)),
    allowed: max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`,
    placeholder: 'N',
  };
}

export function decimalNumber(min: number, max = Number.MAX_VALUE): ValueKind<number> {
  return {
    schema: z.string().regex(decimal).transform(Number).pipe(z.number().min(min).max(max)),
    allowed: max === Number.MAX_VALUE ? `a number of at least ${min}` : `a number from ${min} to ${max}`,
    placeholder: 'X',
  };
}

export const seconds: ValueKind<number> = {
  schema: z.string().regex(decimal).transform(Number).pipe(z.number().min(shortestTimerSecs).max(longestTimerSecs)),
  allowed: `seconds from ${shortestTimerSecs} to ${longestTimerSecs}, decimals allowed`,
  placeholder: 'SECS',
};

/** Seconds, or `none` for no limit: the word lets a flag undo what a file says. */
export const secondsOrNone: ValueKind<number | null> = {
  schema: z.union([z.literal('none').transform(() => null), seconds.schema]),
  allowed: `${seconds.allowed}, or none`,
  placeholder: 'SECS|none',
  show: (value) => (value === null ? 'none' : String(value)),
};

/** 0 lets the system choose. */
export const port: ValueKind<number> = { ...integer(0, 65_535), allowed: 'a port from 0 to 65535 (0 = any free one)', placeholder: 'PORT' };

export const truth: ValueKind<boolean> = {
  schema: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'yes', 'on', '1', 'false', 'no', 'off', '0']))
    .transform((word) => ['true', 'yes', 'on', '1'].includes(word)),
  allowed: 'true or false',
  placeholder: '',
};

export const text: ValueKind<string> = { schema: z.string().min(1), allowed: 'a text that is not empty', placeholder: 'TEXT' };

/** Sent as a header value, so nothing that a header cannot carry. */
export const secret: ValueKind<string> = {
  schema: z.string().regex(/^[\x21-\x7e]+$/),
  allowed: 'visible ASCII without spaces, not empty',
  placeholder: 'SECRET',
};

export const path: ValueKind<string> = { ...text, allowed: 'a path', placeholder: 'PATH' };

export const urlPath: ValueKind<string> = {
  schema: z.string().regex(/^\/[\x21-\x7e]*$/),
  allowed: 'a path that begins with /',
  placeholder: '/PATH',
};

/** One of `words`; a `planned` one is refused as such. */
export function choice<const W extends string>(words: readonly W[], planned: readonly string[] = []): ValueKind<W> {
  return {
    schema: z
      .string()
      .refine((word) => !planned.includes(word), { error: 'planned, but not in this version', abort: true })
      .pipe(z.enum(words)),
    allowed: words.length === 1 ? words.join('') : `one of ${words.join(', ')}`,
    placeholder: words.join('|'),
  };
}

const hostName = /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i;

/** A host without brackets, as `listen` wants it; `undefined` when it is none. */
function readHost(written: string): string | undefined {
  const bare = written.startsWith('[') && written.endsWith(']') ? written.slice(1, -1) : written;
  const isAddress = Boolean(parseIpAddress(bare));
  const looksLikeAddress = /^[\d.]+$/.test(bare) || bare.includes(':');
  return isAddress || (!looksLikeAddress && hostName.test(bare)) ? bare.toLowerCase() : undefined;
}

export const host: ValueKind<string> = {
  schema: z.string().transform((written, ctx) => {
    const found = readHost(written);
    if (found !== undefined) return found;
    ctx.addIssue(unexplained);
    return z.NEVER;
  }),
  allowed: 'an IP address or a host name, without port',
  placeholder: 'HOST',
};

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, an IPv6 address in brackets. */
export function showHostPort({ host: address, port: number }: HostPort): string {
  return address.includes(':') ? `[${address}]:${number}` : `${address}:${number}`;
}

/** A listening address; `off` reads as `null`. */
export const bindAddress: ValueKind<HostPort | null> = {
  schema: z.string().transform((written, ctx) => {
    if (written.toLowerCase() === 'off') return null;
    const parts = /^(?:tcp:\/\/)?(\[[^\]]+\]|\*|[^:[\]]+):(\d{1,5})$/.exec(written);
    const found = parts?.[1] === '*' ? '0.0.0.0' : readHost(parts?.[1] ?? '');
    const number = port.schema.safeParse(parts?.[2] ?? '');
    if (found !== undefined && number.success) return { host: found, port: number.data };
    ctx.addIssue(unexplained);
    return z.NEVER;
  }),
  allowed: 'HOST:PORT (IPv6 in brackets, port 0 = any free one), or off',
  placeholder: 'HOST:PORT|off',
  show: (value) => (value === null ? 'off' : showHostPort(value)),
};

/** Canonical text of one network. */
export const network: ValueKind<string> = {
  schema: z.string().transform((written, ctx) => {
    const parsed = parseNetwork(written);
    if (parsed.ok) return formatNetwork(parsed.network);
    ctx.addIssue(parsed.reason);
    return z.NEVER;
  }),
  allowed: 'one network such as 10.0.0.0/8 or fd00::/8, or one IP address',
  placeholder: 'CIDR',
};
