import { connectorLabels, groupLabelForm, parseEndpoint, zmqAddressForm } from '@switchyard/core';
import { type CommandIo, UsageError } from '../command.js';
import { accessUsage, type AdminAccess, readOperatorArguments } from '../operator/operator-arguments.js';

export interface AnnounceOptions {
  /** Where the engine's `/health` is asked: its canonical endpoint. */
  readonly engine: string;
  /** Canonical endpoint under which the router shall call it. */
  readonly advertised: string;
  readonly role: 'prefill' | 'decode';
  readonly router: { readonly host: string; readonly port: number };
  readonly connector: string | null;
  readonly group: string | null;
  readonly zmqAddress: string | null;
  /** Whom to ask for a drain at the end; `null` = nobody. */
  readonly admin: AdminAccess | null;
  readonly drainWaitSecs: number;
}

export const announceUsage = [
  'usage: switchyard announce --engine URL --role prefill|decode --router HOST:PORT [flags]',
  '  --engine URL        the engine beside which this runs',
  '  --role ROLE         prefill or decode',
  '  --router HOST:PORT  discovery address of the router',
  '  --http-address A    HOST:PORT or URL by which the router calls the engine [--engine]',
  `  --connector K       ${connectorLabels.join(', ')}`,
  '  --group G           pairing group label',
  "  --zmq-address A     the engine's KV control address, when its connector has one",
  '  --drain-wait-secs N at SIGTERM wait this long for the drain: exit 0 drained, 3 timed out [600]',
  ...accessUsage,
  'With --admin and --token SIGTERM drains the engine first; without --admin it only ends the pings.',
];

/** `null` = only the usage is wanted. Throws `UsageError` for a wrong command line. */
export function readAnnounceOptions(argv: readonly string[], env: CommandIo['env']): AnnounceOptions | null {
  const text = { type: 'string' } as const;
  const given = readOperatorArguments(argv, env, {
    engine: text,
    role: text,
    router: text,
    'http-address': text,
    connector: text,
    group: text,
    'zmq-address': text,
    'drain-wait-secs': text,
  });
  if (given.help) return null;
  if (given.words.length > 0) throw new UsageError(`announce takes flags only, not ${JSON.stringify(given.words[0])}`);
  const value = (name: string): string | null => {
    const found = given.values[name];
    return typeof found === 'string' ? found : null;
  };
  const engine = endpointOf('--engine', needed('--engine', value('engine')));
  const advertised = value('http-address');
  const role = needed('--role', value('role'));
  if (role !== 'prefill' && role !== 'decode') throw new UsageError(`--role must be prefill or decode, not ${JSON.stringify(role)}`);
  const { host, port } = parsed('--router', needed('--router', value('router')));
  const asked = value('admin') !== null || env['SWITCHYARD_ADMIN'] !== undefined;
  // Without it the engine would stop undrained, which nobody would notice before the first rolling upgrade.
  if (asked && given.access.token === null) throw new UsageError('--admin needs a token to drain with: give --token, --token-file or SWITCHYARD_TOKEN');
  return {
    engine,
    advertised: advertised === null ? engine : endpointOf('--http-address', advertised),
    role,
    router: { host, port },
    connector: oneOf('--connector', value('connector'), connectorLabels),
    group: matching('--group', value('group'), groupLabelForm, '1 to 128 letters, digits, dots, dashes or underscores'),
    zmqAddress: matching('--zmq-address', value('zmq-address'), zmqAddressForm, 'printable text without spaces or ___'),
    admin: asked ? given.access : null,
    drainWaitSecs: secondsOf('--drain-wait-secs', value('drain-wait-secs') ?? '600'),
  };
}

function needed(flag: string, text: string | null): string {
  if (text === null) throw new UsageError(`${flag} is missing`);
  return text;
}

function parsed(flag: string, text: string): { readonly endpoint: string; readonly host: string; readonly port: number } {
  const read = parseEndpoint(text);
  if (!read.ok) throw new UsageError(`${flag} ${JSON.stringify(text)}: ${read.reason}`);
  return read;
}

function endpointOf(flag: string, text: string): string {
  return parsed(flag, text).endpoint;
}

function oneOf(flag: string, text: string | null, allowed: readonly string[]): string | null {
  if (text !== null && !allowed.includes(text)) throw new UsageError(`${flag} must be one of ${allowed.join(', ')}, not ${JSON.stringify(text)}`);
  return text;
}

function matching(flag: string, text: string | null, form: RegExp, meaning: string): string | null {
  if (text !== null && !form.test(text)) throw new UsageError(`${flag} must be ${meaning}, not ${JSON.stringify(text)}`);
  return text;
}

function secondsOf(flag: string, text: string): number {
  const secs = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || secs > 86_400) throw new UsageError(`${flag} must be seconds from 0 to 86400, not ${JSON.stringify(text)}`);
  return secs;
}
