import { parseEndpoint } from '@switchyard/core';
import { readFileSync } from 'node:fs';
import { parseArgs, type ParseArgsConfig } from 'node:util';

import { type CommandIo, UsageError } from '../command.js';

type Options = NonNullable<ParseArgsConfig['options']>;

/** How to reach the admin API. */
export interface AdminAccess {
  readonly origin: string;
  readonly token: string | null;
}

export interface OperatorArguments {
  readonly access: AdminAccess;
  readonly json: boolean;
  readonly help: boolean;
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly words: readonly string[];
}

const defaultAdmin = 'http://127.0.0.1:9000';

/** The flags by which the admin API is reached, for usage texts. */
export const accessUsage = [
  '  --admin URL         admin listener of the router, also SWITCHYARD_ADMIN [http://127.0.0.1:9000]',
  '  --token TOKEN       operator or viewer token, also SWITCHYARD_TOKEN, --token-file or SWITCHYARD_TOKEN_FILE',
];

/** The flags that every operator command takes, for its usage text. */
export const operatorUsage = [...accessUsage, '  --json              the answer as JSON'];

const accessOptions: Options = {
  admin: { type: 'string' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

/** Reads the command line of an operator command that takes `own` flags beside the shared ones. */
export function readOperatorArguments(argv: readonly string[], env: CommandIo['env'], own: Options = {}): OperatorArguments {
  let parsed: { readonly values: Readonly<Record<string, unknown>>; readonly positionals: readonly string[] };
  try {
    parsed = parseArgs({ args: [...argv], options: { ...accessOptions, ...own }, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? error.message) : String(error));
  }
  const values = parsed.values as OperatorArguments['values'];
  const help = values['help'] === true;
  return { access: help ? { origin: defaultAdmin, token: null } : accessFrom(values, env), json: values['json'] === true, help, values, words: parsed.positionals };
}

function accessFrom(values: OperatorArguments['values'], env: CommandIo['env']): AdminAccess {
  const url = values['admin'] ?? env['SWITCHYARD_ADMIN'] ?? defaultAdmin;
  const parsed = parseEndpoint(String(url));
  if (!parsed.ok) throw new UsageError(`${values['admin'] === undefined ? 'SWITCHYARD_ADMIN' : '--admin'} ${JSON.stringify(url)}: ${parsed.reason}`);
  return { origin: parsed.endpoint, token: tokenFrom(values, env) };
}

function tokenFrom(values: OperatorArguments['values'], env: CommandIo['env']): string | null {
  const given = values['token'] ?? (values['token-file'] === undefined ? env['SWITCHYARD_TOKEN'] : undefined);
  const file = values['token-file'] ?? (given === undefined ? env['SWITCHYARD_TOKEN_FILE'] : undefined);
  const token = typeof given === 'string' ? given : typeof file === 'string' ? readToken(file) : '';
  if (!/^[\x21-\x7e]*$/.test(token)) throw new UsageError('the token must be visible ASCII without spaces');
  return token === '' ? null : token;
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`cannot read the token: ${error instanceof Error ? error.message : String(error)}`);
  }
}
