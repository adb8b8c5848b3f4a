import { parseArgs } from 'node:util';
import { type ConnectorName, connectorNames } from './kv/connector-name.js';
import { type KvAddress, parseKvAddress } from './kv/kv-address.js';

export const simRoles = ['prefill', 'decode', 'regular'] as const;
export type SimRole = (typeof simRoles)[number];

export const transferModes = ['READ', 'WRITE'] as const;
export type TransferMode = (typeof transferModes)[number];

export interface SimOptions {
  readonly host: string;
  readonly port: number;
  readonly role: SimRole;
  readonly models: readonly string[];
  readonly connector: ConnectorName;
  readonly transferMode: TransferMode;
  /** `host:port` of the router's discovery socket; `null` sends no pings. */
  readonly router: string | null;
  readonly kvAddress: KvAddress;
  /** What pings state as `http_address`; `null` means the address really listened on. */
  readonly announcedHttpAddress: string | null;
  readonly pingIntervalMs: number;
  readonly instance: string | null;
  readonly group: string | null;
  readonly connectorLabel: string | null;
  /** Unix seconds in pings, `auto` for the process's own start. */
  readonly startedAt: number | 'auto' | null;
  readonly vllmVersion: string;
  readonly bootMs: number;
  readonly prefillUsPerToken: number;
  readonly decodeMsPerToken: number;
  readonly tokensPerChunk: number;
  readonly outputTokens: number;
  readonly maxModelLen: number;
  readonly maxNumSeqs: number;
  readonly kvBlocks: number;
  readonly blockSize: number;
  readonly kvLeaseMs: number;
  readonly idleTimeoutMs: number;
  readonly apiKey: string | null;
  readonly recordLimit: number;
  readonly recordBodyBytes: number;
}

/** A command line that cannot be run; the message names the flag. */
export class OptionsError extends Error {}

interface FlagText {
  readonly name: string;
  readonly value: string;
  readonly fallback?: string;
  readonly help: string;
}

const flagTexts: readonly FlagText[] = [
  { name: 'host', value: 'HOST', fallback: '127.0.0.1', help: 'HTTP listener' },
  { name: 'port', value: 'PORT', fallback: '8000', help: 'HTTP listener; 0 picks a free port' },
  { name: 'role', value: simRoles.join('|'), fallback: 'regular', help: 'what the engine is started as' },
  { name: 'model', value: 'NAME', help: 'served model, repeatable (default sim-model)' },
  { name: 'connector', value: connectorNames.join('|'), fallback: 'none', help: 'KV connector whose hand-offs are checked' },
  { name: 'transfer-mode', value: transferModes.join('|'), fallback: 'READ', help: 'MoRI-IO mode; WRITE announces itself only' },
  { name: 'router', value: 'HOST:PORT', help: 'send ZMQ pings there (default none)' },
  { name: 'zmq-address', value: 'ADDRESS', help: 'KV side channel: host:port, for moriio host:H,handshake:P,notify:N (default a free port on 127.0.0.1)' },
  { name: 'http-address', value: 'HOST:PORT', help: 'stated in pings instead of the real one' },
  { name: 'ping-interval-secs', value: 'SECS', fallback: '3', help: 'time between pings' },
  { name: 'instance', value: 'ID', help: 'adds `instance` to pings' },
  { name: 'group', value: 'NAME', help: 'adds `group` to pings' },
  { name: 'connector-label', value: 'NAME', help: 'adds `connector` to pings' },
  { name: 'started-at', value: 'auto|UNIX_SECS', help: 'adds `started_at` to pings' },
  { name: 'vllm-version', value: 'VERSION', fallback: '0.11.0', help: 'reported version; hand-offs between versions are refused' },
  { name: 'boot-secs', value: 'SECS', fallback: '0', help: 'HTTP comes up after this; pings start at once' },
  { name: 'prefill-us-per-token', value: 'US', fallback: '10', help: 'per uncached prompt token' },
  { name: 'decode-ms-per-token', value: 'MS', fallback: '2', help: 'per generated token after the first' },
  { name: 'tokens-per-chunk', value: 'N', fallback: '1', help: 'tokens in one stream event' },
  { name: 'output-tokens', value: 'N', fallback: '48', help: 'length of an answer that no limit cuts' },
  { name: 'max-model-len', value: 'N', fallback: '1048576', help: 'context length in tokens' },
  { name: 'max-num-seqs', value: 'N', fallback: '1024', help: 'requests running at once, the rest waits' },
  { name: 'kv-blocks', value: 'N', fallback: '8192', help: 'blocks in the prefix cache' },
  { name: 'block-size', value: 'N', fallback: '16', help: 'tokens in a block' },
  { name: 'kv-lease-secs', value: 'SECS', fallback: '30', help: 'how long an unclaimed hand-off is kept' },
  { name: 'idle-timeout-secs', value: 'SECS', fallback: '5', help: 'idle HTTP connections are closed after this' },
  { name: 'api-key', value: 'KEY', help: 'require it as bearer on /v1' },
  { name: 'record-limit', value: 'N', fallback: '5000', help: 'request records kept for /__sim/requests' },
  { name: 'record-body-bytes', value: 'N', fallback: '4096', help: 'bytes of each request body kept in its record' },
];

/** The `--help` page. */
export function helpText(): string {
  const lines = flagTexts.map((flag) => {
    const head = `  --${flag.name} ${flag.value}`;
    return `${head.padEnd(38)} ${flag.help}${flag.fallback === undefined ? '' : ` (default ${flag.fallback})`}`;
  });
  return ['engine-sim: a strict stand-in vLLM engine', '', 'usage: node dist/apps/engine-sim/main.js [flags]', '', ...lines, ''].join('\n');
}

function isOneOf<T extends string>(value: string, allowed: readonly T[]): value is T {
  return (allowed as readonly string[]).includes(value);
}

class FlagReader {
  readonly #values: Readonly<Record<string, string | readonly string[] | undefined>>;

  constructor(values: Readonly<Record<string, string | readonly string[] | undefined>>) {
    this.#values = values;
  }

  optional(name: string): string | null {
    const value = this.#values[name];
    if (typeof value !== 'string') return null;
    if (value === '') throw new OptionsError(`--${name} must not be empty`);
    return value;
  }

  text(name: string): string {
    return this.optional(name) ?? flagTexts.find((flag) => flag.name === name)?.fallback ?? '';
  }

  list(name: string, fallback: readonly string[]): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) && value.length > 0 ? (value as readonly string[]) : fallback;
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.text(name);
    if (!isOneOf(value, allowed)) throw new OptionsError(`--${name} must be one of ${allowed.join(', ')}, got ${value}`);
    return value;
  }

  number(name: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
    const text = this.text(name);
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value) || value < min || value > max) {
      throw new OptionsError(`--${name} must be a number from ${min} to ${max}, got ${text}`);
    }
    return value;
  }

  integer(name: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
    const value = this.number(name, min, max);
    if (!Number.isInteger(value)) throw new OptionsError(`--${name} must be a whole number, got ${value}`);
    return value;
  }
}

function readStartedAt(text: string | null): number | 'auto' | null {
  if (text === null || text === 'auto') return text;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new OptionsError(`--started-at must be auto or Unix seconds, got ${text}`);
  return value;
}

/** Reads a command line; throws `OptionsError` for what it does not know. `help` asks for the help page. */
export function parseOptions(argv: readonly string[]): SimOptions | 'help' {
  let values: Record<string, string | readonly string[] | boolean | undefined>;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      strict: true,
      allowPositionals: false,
      options: {
        help: { type: 'boolean', short: 'h' },
        ...Object.fromEntries(flagTexts.map((flag) => [flag.name, { type: 'string' as const, multiple: flag.name === 'model' }])),
      },
    }) as { values: Record<string, string | readonly string[] | boolean | undefined> });
  } catch (error) {
    throw new OptionsError(error instanceof Error ? error.message : String(error));
  }
  if (values['help'] === true) return 'help';
  const read = new FlagReader(values as Record<string, string | readonly string[] | undefined>);
  const connector = read.oneOf('connector', connectorNames);
  const kvAddressText = read.optional('zmq-address');
  const kvAddress = parseKvAddress(kvAddressText, connector);
  if (kvAddress === null) throw new OptionsError(`--zmq-address ${kvAddressText ?? ''} is not an address of connector ${connector}`);
  const role = read.oneOf('role', simRoles);
  const router = read.optional('router');
  if (router !== null && role === 'regular') throw new OptionsError('--router needs --role prefill or decode: regular engines send no pings');
  return {
    host: read.text('host'),
    port: read.integer('port', 0, 65_535),
    role,
    models: read.list('model', ['sim-model']),
    connector,
    transferMode: read.oneOf('transfer-mode', transferModes),
    router,
    kvAddress,
    announcedHttpAddress: read.optional('http-address'),
    pingIntervalMs: read.number('ping-interval-secs', 0.01) * 1000,
    instance: read.optional('instance'),
    group: read.optional('group'),
    connectorLabel: read.optional('connector-label'),
    startedAt: readStartedAt(read.optional('started-at')),
    vllmVersion: read.text('vllm-version'),
    bootMs: read.number('boot-secs', 0) * 1000,
    prefillUsPerToken: read.number('prefill-us-per-token', 0),
    decodeMsPerToken: read.number('decode-ms-per-token', 0),
    tokensPerChunk: read.integer('tokens-per-chunk', 1),
    outputTokens: read.integer('output-tokens', 1),
    maxModelLen: read.integer('max-model-len', 2),
    maxNumSeqs: read.integer('max-num-seqs', 1),
    kvBlocks: read.integer('kv-blocks', 1),
    blockSize: read.integer('block-size', 1),
    kvLeaseMs: read.number('kv-lease-secs', 0.01) * 1000,
    idleTimeoutMs: read.number('idle-timeout-secs', 0.01) * 1000,
    apiKey: read.optional('api-key'),
    recordLimit: read.integer('record-limit', 1),
    recordBodyBytes: read.integer('record-body-bytes', 0),
  };
}
