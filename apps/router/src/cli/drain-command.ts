import { parseEndpoint, roles } from '@switchyard/core';

import { drainAnswer } from '../operator/admin-answers.schema.js';
import { askAdmin } from '../operator/admin-client.js';
import { exitCodes, type CommandIo, UsageError } from '../command.js';
import { type OperatorArguments, operatorUsage, readOperatorArguments } from '../operator/operator-arguments.js';
import { readAs, tellRefusal } from './operator-command.js';
import { drainLine } from './worker-lines.js';

const drainUsage = [
  'usage: switchyard drain ENDPOINT [flags]',
  '  ENDPOINT            HOST:PORT or URL of the engine',
  `  --role ROLE         ${roles.join(', ')}; without it every role at the endpoint`,
  '  --wait SECS         wait until it is drained: exit 0, or 3 when the time is over',
  '  --force             also when some model could not be served afterwards',
  '  --reason TEXT       kept with the drain and in the event log',
  '  --until WHAT        restart (a new engine process takes requests again) or undrain [restart]',
  ...operatorUsage,
];

const undrainUsage = ['usage: switchyard undrain ENDPOINT [--role ROLE] [flags]', ...operatorUsage];

/** Asks for a drain, and with `--wait` waits for its end. */
export async function drainCommand(argv: readonly string[], io: CommandIo): Promise<number | null> {
  const given = readOperatorArguments(argv, io.env, {
    role: { type: 'string' },
    wait: { type: 'string' },
    force: { type: 'boolean' },
    reason: { type: 'string' },
    until: { type: 'string' },
  });
  if (given.help) return tell(io, drainUsage);
  const waitSecs = readWait(given);
  const body = {
    endpoint: readEndpoint(given),
    ...optional('role', readWord(given, 'role', roles)),
    ...optional('until', readWord(given, 'until', ['restart', 'undrain'])),
    ...optional('reason', given.values['reason']),
    ...(given.values['force'] === true ? { force: true } : {}),
    ...optional('waitSecs', waitSecs),
  };
  return tellRefusal(io, given, async () => {
    const answer = await askAdmin(given.access, { method: 'POST', path: '/api/v1/endpoints/drain', body, waitSecs: waitSecs ?? 0 });
    const { items, drained } = readAs(drainAnswer, answer);
    io.out(given.json ? JSON.stringify(answer.body, null, 2) : items.map(drainLine).join('\n') || 'no worker there yet: kept for when one comes');
    if (waitSecs === undefined || drained === true) return exitCodes.ok;
    io.err(`switchyard: not drained after ${waitSecs} s`);
    return exitCodes.timedOut;
  });
}

/** Ends a drain. */
export async function undrainCommand(argv: readonly string[], io: CommandIo): Promise<number | null> {
  const given = readOperatorArguments(argv, io.env, { role: { type: 'string' } });
  if (given.help) return tell(io, undrainUsage);
  const body = { endpoint: readEndpoint(given), ...optional('role', readWord(given, 'role', roles)) };
  return tellRefusal(io, given, async () => {
    const answer = await askAdmin(given.access, { method: 'POST', path: '/api/v1/endpoints/undrain', body });
    const { items } = readAs(drainAnswer, answer);
    io.out(given.json ? JSON.stringify(answer.body, null, 2) : items.map(drainLine).join('\n'));
    return exitCodes.ok;
  });
}

function tell(io: CommandIo, lines: readonly string[]): number {
  io.out(lines.join('\n'));
  return exitCodes.ok;
}

function readEndpoint({ words }: OperatorArguments): string {
  const [word, ...more] = words;
  if (word === undefined || more.length > 0) throw new UsageError('give exactly one ENDPOINT, such as 10.0.0.1:8000');
  const parsed = parseEndpoint(word);
  if (!parsed.ok) throw new UsageError(`${JSON.stringify(word)} is not an endpoint: ${parsed.reason}`);
  return parsed.endpoint;
}

function readWord(given: OperatorArguments, name: string, allowed: readonly string[]): string | undefined {
  const word = given.values[name];
  if (word === undefined) return undefined;
  if (typeof word === 'string' && allowed.includes(word)) return word;
  throw new UsageError(`--${name} must be one of ${allowed.join(', ')}`);
}

function readWait({ values }: OperatorArguments): number | undefined {
  const word = values['wait'];
  if (word === undefined) return undefined;
  const secs = Number(word);
  if (word === '' || !Number.isFinite(secs) || secs < 0 || secs > 86_400) throw new UsageError('--wait must be seconds from 0 to 86400');
  return secs;
}

function optional(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === undefined ? {} : { [name]: value };
}
