/**
 * `npm run demo`: the built router with a temporary data directory, two prefill and three decode simulated engines
 * that announce themselves, and a trickle of multi-turn chats. Flags go to the router. Ctrl-C ends everything.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { forwardSignals, stopForwardingSignals } from './child.mjs';
import { startChats } from './demo-chats.mjs';
import { ensureBuilt, ensureDependencies, root, SetupFailed } from './setup.mjs';

forwardSignals();
try {
  await ensureDependencies();
  await ensureBuilt();
} catch (error) {
  if (!(error instanceof SetupFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
stopForwardingSignals();

const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-demo-'));
const children = new Map();
const chats = new AbortController();
let ending = false;

/** Own process groups: a Ctrl-C reaches this script alone, which then ends them in order. */
function start(name, script, args, { stdout = 'ignore', env = {} } = {}) {
  const child = spawn(process.execPath, [join(root, script), ...args], {
    cwd: root,
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', stdout, 'inherit'],
  });
  children.set(name, child);
  child.once('exit', (code, signal) => {
    children.delete(name);
    if (ending) return;
    process.stderr.write(`${name} ended (${signal ?? `exit code ${code}`})\n`);
    void endAll(code === 0 ? 1 : (code ?? 1));
  });
  return child;
}

async function stop(name) {
  const child = children.get(name);
  if (child === undefined) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await Promise.race([gone, sleep(5000, undefined, { ref: false }).then(() => child.kill('SIGKILL'))]);
  await gone;
}

async function endAll(exitCode) {
  if (ending) return;
  ending = true;
  chats.abort();
  await stop('router');
  await Promise.all([...children.keys()].map(stop));
  rmSync(dataDir, { recursive: true, force: true });
  process.exit(exitCode);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void endAll(0));

const flags = process.argv.slice(2);
const hasToken = process.env.SWITCHYARD_ADMIN_TOKEN !== undefined || flags.some((flag) => flag.startsWith('--admin-token'));
const token = randomBytes(18).toString('base64url');
const router = start(
  'router',
  'dist/apps/router/main.js',
  ['serve', '--data-dir', dataDir, '--discovery-address', '127.0.0.1:0', '--log-level', 'warn', ...flags],
  { stdout: 'pipe', env: hasToken ? {} : { SWITCHYARD_ADMIN_TOKEN: token } },
);

const listening = await new Promise((resolve) => {
  createInterface({ input: router.stdout }).on('line', (line) => {
    const found = /^listening api=(\S+) admin=(\S+) discovery=(\S+)$/.exec(line);
    if (found) resolve({ api: reachable(found[1]), admin: reachable(found[2]), discovery: found[3] });
    else console.log(line);
  });
});

function reachable(address) {
  return `http://${address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:')}`;
}

const engine = (role, number) =>
  start(`${role} engine ${number}`, 'dist/apps/engine-sim/main.js', ['--role', role, '--port', '0', '--router', listening.discovery, '--connector', 'nixl']);
for (const number of [1, 2]) engine('prefill', number);
for (const number of [1, 2, 3]) engine('decode', number);

console.log(`API      ${listening.api}/v1   (model sim-model)`);
console.log(`admin    ${listening.admin}${hasToken ? '' : `   token ${token}`}`);
console.log('');
console.log(`  curl ${listening.api}/v1/chat/completions -H 'content-type: application/json' \\`);
console.log(`    -d '{"model":"sim-model","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`);
console.log(`  node dist/apps/router/main.js workers --admin ${listening.admin}${hasToken ? '' : ` --token ${token}`}`);
console.log('');
console.log('Ctrl-C ends the router, the engines and the traffic.');

const clientKeys = flags.flatMap((flag, at) => (flag === '--client-api-key' ? [flags[at + 1]] : []));
startChats({ api: listening.api, key: clientKeys[0], signal: chats.signal, tell: (line) => console.log(line) });
