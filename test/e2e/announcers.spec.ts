import { spawnSync } from 'node:child_process';

import { Child } from '../support/child.js';
import { eventually, pause } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { operatorToken, type RouterProcess } from '../support/router-process.js';
import { answerJson, completion, event, isPrefillLeg, ScriptedEngine, startEvents } from '../support/scripted-engine.js';
import { switchyard } from '../support/switchyard-cli.js';

const python = '/usr/bin/python3';
const pythonIsThere = spawnSync(python, ['-c', 'import zmq, msgpack']).status === 0;
const whenPython = pythonIsThere ? it : it.skip;
if (!pythonIsThere) console.warn(`skipped: ${python} with zmq and msgpack is not here (Debian: apt-get install python3-zmq python3-msgpack)`);

/** The ping thread of vLLM's P2P NCCL engine, reduced to its wire: DEALER, identity = zmq_address, one msgpack map a ping. */
const vllmPings = `
import sys, time, msgpack, zmq
discovery, role, http_address, zmq_address = sys.argv[1:5]
sock = zmq.Context().socket(zmq.DEALER)
sock.setsockopt_string(zmq.IDENTITY, zmq_address)
sock.connect("tcp://" + discovery)
data = {"type": role, "http_address": http_address, "zmq_address": zmq_address}
while True:
    sock.send(msgpack.dumps(data))
    time.sleep(0.5)
`;

interface Announcer {
  readonly name: string;
  readonly it: typeof it;
  start(args: readonly string[]): Child;
}

const announcers: readonly Announcer[] = [
  { name: 'switchyard announce', it, start: (args) => new Child(process.execPath, ['dist/apps/router/main.js', 'announce', ...args]) },
  { name: 'the Python announcer', it: whenPython, start: (args) => new Child(python, ['tools/announce/switchyard_announce.py', ...args]) },
];

describe('engines announced by others', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  /** Answers prefills at once; streams stay open until `release`. */
  async function engine(): Promise<{ engine: ScriptedEngine; release: () => void; open: () => number }> {
    const open = new Set<() => void>();
    const it = started.add(
      await ScriptedEngine.start({
        startedAtSecs: 1_750_000_000,
        handle: (call, res) => {
          if (isPrefillLeg(call) || !call.body.includes('"stream":true')) { answerJson(res, completion('x')); return; }
          startEvents(res);
          res.write(event('one'));
          open.add(() => res.end('data: [DONE]\n\n'));
        },
      }),
      (each) => each.stop(),
    );
    const release = (): void => {
      for (const end of open) end();
      open.clear();
    };
    return { engine: it, release, open: () => open.size };
  }

  whenPython('19: a sender of pyzmq and msgpack registers, prefill and decode, and requests run over it', async () => {
    const [p, d] = [await engine(), await engine()];
    const router = await started.router(['--registration-ttl-secs', '2']);
    for (const [role, each, zmq] of [
      ['P', p, '127.0.0.1:24001'],
      ['D', d, '127.0.0.1:24002'],
    ] as const) {
      started.add(new Child(python, ['-c', vllmPings, router.discovery, role, each.engine.address, zmq]), (child) => child.stop('SIGKILL'));
    }
    const before = await router.admin.selectable({ prefill: 1, decode: 1 });
    expect(before.map(({ endpoint, zmqAddress, sources }) => [endpoint, zmqAddress, sources]).sort()).toEqual(
      [
        [p.engine.url, '127.0.0.1:24001', ['zmq']],
        [d.engine.url, '127.0.0.1:24002', ['zmq']],
      ].sort(),
    );
    expect((await router.post('/v1/completions', { model: 'm', prompt: 'x' })).status).toBe(200);
    const call = p.engine.inference()[0]!;
    expect(call.headers['x-request-id']).toMatch(/^___prefill_addr_127\.0\.0\.1:24001___decode_addr_127\.0\.0\.1:24002_[0-9a-f]{32}$/);
    await pause(3_000);
    expect((await router.admin.workers()).map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
  });

  for (const { name, it: only, start } of announcers) {
    const announce = (router: RouterProcess, each: ScriptedEngine, ...more: readonly string[]): Child =>
      started.add(
        start([
          ...['--engine', each.url, '--role', 'decode', '--router', router.discovery, '--connector', 'nixl'],
          ...['--admin', `http://${router.adminAddress}`, '--token', operatorToken, ...more],
        ]),
        (child) => child.stop('SIGKILL'),
      );

    only(`19: ${name} registers, and on SIGTERM drains while it goes on pinging, then exits 0`, async () => {
      const d = await engine();
      const p = await engine();
      const router = await started.router(['--prefill', `${p.engine.url};group=blue`]);
      const child = announce(router, d.engine, '--group', 'blue', '--zmq-address', '127.0.0.1:24100');
      await router.admin.selectable({ prefill: 1, decode: 1 });
      const before = (await router.admin.worker('decode', d.engine.url))!;
      expect(before).toMatchObject({
        sources: ['zmq'],
        group: 'blue',
        zmqAddress: '127.0.0.1:24100',
        connector: { kind: 'nixl', evidence: 'label' },
        engine: { startedAt: '2025-06-15T15:06:40.000Z' },
      });
      const stream = await router.post('/v1/completions', { model: 'm', prompt: 'x', stream: true });
      await eventually('the stream is open', () => d.open() === 1);

      child.signal('SIGTERM');
      // The only decode worker: a preStop hook cannot be refused.
      await eventually('draining', async () => (await router.admin.worker('decode', d.engine.url))?.adminState === 'draining');
      const heartbeatAt = (await router.admin.worker('decode', d.engine.url))!['lastHeartbeatAt'];
      await eventually('it pings on', async () => (await router.admin.worker('decode', d.engine.url))!['lastHeartbeatAt'] !== heartbeatAt, 8_000);
      expect(child.ended).toBe(false);
      expect((await router.admin.worker('decode', d.engine.url))!.generation).toBe(before.generation);
      d.release();
      expect(await stream.text()).toBe(`${event('one')}data: [DONE]\n\n`);
      expect(await child.end()).toBe(0);
      expect(await router.admin.worker('decode', d.engine.url)).toMatchObject({ adminState: 'drained', safeToStop: true });
    });

    only(`19: ${name} exits 3 when the drain takes longer than it may`, async () => {
      const d = await engine();
      const p = await engine();
      const router = await started.router(['--prefill', p.engine.url]);
      const child = announce(router, d.engine, '--drain-wait-secs', '1');
      await router.admin.selectable({ prefill: 1, decode: 1 });
      const stream = await router.post('/v1/completions', { model: 'm', prompt: 'x', stream: true });
      child.signal('SIGTERM');
      expect(await child.end()).toBe(3);
      expect((await router.admin.worker('decode', d.engine.url))!.adminState).toBe('draining');
      d.release();
      await stream.text();
    });

    only(`19: ${name} waits for its engine, stays silent while it is gone, and tells a new process from the old one`, async () => {
      const d = await engine();
      d.engine.healthStatus = 503;
      const router = await started.router(['--registration-ttl-secs', '4']);
      const child = announce(router, d.engine);
      await pause(1_500);
      expect(await router.admin.workers()).toEqual([]);
      d.engine.healthStatus = 200;
      await router.admin.selectable({ decode: 1 });
      const before = (await router.admin.worker('decode', d.engine.url))!;
      const { port, url } = d.engine;
      await d.engine.stop();
      await eventually('expiry', async () => (await router.admin.workers()).length === 0, 15_000);
      expect(child.ended).toBe(false);
      started.add(await ScriptedEngine.start({ port, startedAtSecs: 1_750_000_500 }), (each) => each.stop());
      await eventually('back', async () => (await router.admin.worker('decode', url))?.selectable === true);
      const after = (await router.admin.worker('decode', url))!;
      expect(after.generation).toBeGreaterThan(before.generation);
      expect(await child.stop('SIGTERM')).toBe(0);
    });

    only(`19: ${name} refuses what it cannot use, naming it`, async () => {
      const flags = ['--engine', 'http://127.0.0.1:1', '--role', 'decode', '--router', '127.0.0.1:1'];
      for (const [args, named] of [
        [flags.slice(2), '--engine'],
        [[...flags.slice(0, 2), ...flags.slice(4)], '--role'],
        [flags.slice(0, 4), '--router'],
        [[...flags, '--role', 'both'], '--role'],
        [[...flags, '--zzz', '1'], '--zzz'],
      ] as const) {
        const child = started.add(start(args), (each) => each.stop('SIGKILL'));
        expect([named, await child.end()]).toEqual([named, 2]);
        await eventually('it says why', () => child.stderr.join('\n').includes(named));
      }
    });
  }

  it('19: an announcer without admin access ends its pings and nothing else', async () => {
    const d = await engine();
    const router = await started.router(['--registration-ttl-secs', '4']);
    const child = started.add(
      new Child(process.execPath, ['dist/apps/router/main.js', 'announce', '--engine', d.engine.url, '--role', 'decode', '--router', router.discovery]),
      (each) => each.stop('SIGKILL'),
    );
    await router.admin.selectable({ decode: 1 });
    expect(await child.stop('SIGTERM')).toBe(0);
    expect((await router.admin.get('/api/v1/drains')).items).toEqual([]);
    await eventually('expiry', async () => (await router.admin.workers()).length === 0);
    expect((await switchyard(['announce', '--help'])).out).toContain('--drain-wait-secs');
  });
});
