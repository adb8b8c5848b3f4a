import { readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';

import { complainOfFaults } from '../support/accounts.js';
import { Child } from '../support/child.js';
import { eventually, pause } from '../support/eventually.js';
import { exchange } from '../support/exchange.js';
import { Started } from '../support/fleet.js';
import { operatorToken, RouterProcess } from '../support/router-process.js';
import { event, ScriptedEngine, startEvents } from '../support/scripted-engine.js';

/** Processes that have `pid` among their ancestors, and itself. */
function familyOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It ended meanwhile.
    }
  }
  const family = [pid];
  for (const member of family) for (const [child, parent] of parents) if (parent === member) family.push(child);
  return family;
}

function lives(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('21: signals to npm start', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  async function npmStart(flags: readonly string[]): Promise<RouterProcess> {
    const child = started.add(
      new Child('npm', [
        ...['start', '--', '--host', '127.0.0.1', '--port', '0', '--admin-port', '0', '--discovery-address', '127.0.0.1:0'],
        ...['--admin-token', operatorToken, '--data-dir', 'memory', '--log-format', 'json', ...flags],
      ]),
      (it) => it.stop('SIGKILL'),
    );
    return await RouterProcess.attach(child, 90_000);
  }

  async function streaming(): Promise<{ engine: ScriptedEngine; open: Set<() => void> }> {
    const open = new Set<() => void>();
    const engine = started.add(
      await ScriptedEngine.start({
        handle: (_call, res) => {
          startEvents(res);
          res.write(event('one'));
          open.add(() => res.end(`${event('two')}data: [DONE]\n\n`));
        },
      }),
      (it) => it.stop(),
    );
    return { engine, open };
  }

  const whole = `${event('one')}${event('two')}data: [DONE]\n\n`;

  it('SIGTERM during 50 streams: nothing new, all streams whole, exit 0, no process left', async () => {
    const { engine, open } = await streaming();
    const router = await npmStart(['--worker-url', engine.url, '--shutdown-grace-secs', '20']);
    await router.admin.selectable({ regular: 1 });
    const streams = Array.from({ length: 50 }, () => exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x', stream: true }));
    await eventually('50 streams', () => open.size === 50);
    const agent = new Agent({ keepAlive: true });
    expect((await exchange(router.api, '/readiness', '', { method: 'GET', agent })).status).toBe(200);
    const family = familyOf(router.child.pid);

    router.child.signal('SIGTERM');
    await eventually('not ready', async () => (await exchange(router.api, '/readiness', '', { method: 'GET', agent })).status === 503);
    const readiness = await exchange(router.api, '/readiness', '', { method: 'GET', agent });
    expect(readiness).toMatchObject({ status: 503, headers: { connection: 'close' } });
    expect(JSON.parse(readiness.text)).toMatchObject({ status: 'shutting_down' });
    for (const path of ['/v1/completions', '/v1/chat/completions']) {
      const refused = await exchange(router.api, path, { model: 'm', prompt: 'x' }, { agent });
      expect(refused).toMatchObject({ status: 503, complete: true, headers: { connection: 'close', 'x-switchyard-error': 'shutting_down' } });
    }
    expect((await exchange(router.api, '/liveness', '', { method: 'GET' })).status).toBe(200);
    await pause(300);
    expect(open.size).toBe(50);
    expect(router.child.ended).toBe(false);
    for (const end of open) end();
    for (const stream of streams) expect(await stream).toMatchObject({ status: 200, complete: true, text: whole });
    expect(await router.child.end()).toBe(0);
    await eventually('no process left', () => !family.some(lives), 3_000);
    complainOfFaults(router);
    agent.destroy();
  }, 120_000);

  it.each(['SIGTERM', 'SIGINT'] as const)('a second signal (%s) exits at once, whatever is open', async (signal) => {
    const { engine, open } = await streaming();
    const router = await npmStart(['--worker-url', engine.url, '--shutdown-grace-secs', '60']);
    await router.admin.selectable({ regular: 1 });
    const stream = exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('a stream', () => open.size === 1);
    const family = familyOf(router.child.pid);
    router.child.signal(signal);
    await eventually('not ready', async () => (await exchange(router.api, '/readiness', '', { method: 'GET' })).status === 503);
    const sinceMs = performance.now();
    router.child.signal(signal);
    await router.child.end();
    expect(performance.now() - sinceMs).toBeLessThan(2_000);
    expect((await stream).complete).toBe(false);
    await eventually('no process left', () => !family.some(lives), 3_000);
  }, 120_000);

  it('streams that outlast the grace time are cut, and the exit code is 0 all the same', async () => {
    const { engine, open } = await streaming();
    const router = await npmStart(['--worker-url', engine.url, '--shutdown-grace-secs', '0.5']);
    await router.admin.selectable({ regular: 1 });
    const stream = exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('a stream', () => open.size === 1);
    router.child.signal('SIGTERM');
    const cut = await stream;
    expect(cut.complete).toBe(false);
    expect(cut.text).toContain('"upstream_stream_error"');
    expect(await router.child.end()).toBe(0);
  }, 120_000);
});
