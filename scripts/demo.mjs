/**
 * `npm run demo`: the built router with a temporary data directory, two prefill and three decode simulated engines
 * that announce themselves, and a trickle of multi-turn chats. One engine restarts now and then, one flaps, one is slow.
 * Flags go to the router. Ctrl-C ends everything.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { startChats } from './demo-chats.mjs';
import { DemoChildren } from './demo-children.mjs';
import { models, startEngines } from './demo-engines.mjs';
import { setUpOrExit } from './setup.mjs';

await setUpOrExit();

const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-demo-'));
const life = new AbortController();
const children = new DemoChildren((name, how, code) => {
  if (life.signal.aborted) return;
  process.stderr.write(`${name} ended (${how})\n`);
  void endAll(code === 0 ? 1 : (code ?? 1));
});

async function endAll(exitCode) {
  if (life.signal.aborted) return;
  life.abort();
  await children.stop('router');
  await children.stopAll();
  rmSync(dataDir, { recursive: true, force: true });
  process.exit(exitCode);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void endAll(0));

const flags = process.argv.slice(2);
const hasToken = process.env.SWITCHYARD_ADMIN_TOKEN !== undefined || flags.some((flag) => flag.startsWith('--admin-token'));
const token = randomBytes(18).toString('base64url');
const router = children.start(
  'router',
  'dist/apps/router/main.js',
  ['serve', '--data-dir', dataDir, '--discovery-address', '127.0.0.1:0', '--log-level', 'warn', ...flags],
  hasToken ? {} : { SWITCHYARD_ADMIN_TOKEN: token },
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

const tell = (line) => console.log(line);
startEngines({ children, discovery: listening.discovery, signal: life.signal, tell });

console.log(`API        ${listening.api}/v1   (models ${models.join(', ')})`);
console.log(`dashboard  ${listening.admin}/${hasToken ? '' : `#token=${token}`}`);
console.log('');
console.log(`  curl ${listening.api}/v1/chat/completions -H 'content-type: application/json' \\`);
console.log(`    -d '{"model":"sim-model","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`);
console.log(`  node dist/apps/router/main.js workers --admin ${listening.admin}${hasToken ? '' : ` --token ${token}`}`);
console.log('');
console.log('Ctrl-C ends the router, the engines and the traffic.');

const clientKeys = flags.flatMap((flag, at) => (flag === '--client-api-key' ? [flags[at + 1]] : []));
startChats({ api: listening.api, key: clientKeys[0], signal: life.signal, tell });
