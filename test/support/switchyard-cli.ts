import { spawn } from 'node:child_process';

import { root } from './child.js';

export interface CliEnd {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the built `switchyard` with `args` to its end; kills it when it does not end in time. */
export async function switchyard(args: readonly string[], env: Readonly<Record<string, string>> = {}, timeoutMs = 60_000): Promise<CliEnd> {
  const child = spawn(process.execPath, ['dist/apps/router/main.js', ...args], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
}
