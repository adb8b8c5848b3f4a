import { Child, root } from '../support/child.js';
import { eventually, pause } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { Pinger } from '../support/pinger.js';
import { ScriptedEngine } from '../support/scripted-engine.js';

const long = process.env['SWITCHYARD_TEST_LONG'] === '1';
/** Full: the contract's defaults and a stop of 20 s. Scaled: everything shorter than the stop, in the same order. */
const scale = long ? { ttlSecs: 10, stopMs: 20_000, pingMs: 3_000 } : { ttlSecs: 1.5, stopMs: 4_000, pingMs: 400 };

describe('peers, log readers and a router that hang', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  it('14: an engine restarted with the same ZMQ identity while the old TCP connection hangs registers within two pings', async () => {
    const engine = started.add(await ScriptedEngine.start(), (it) => it.stop());
    const router = await started.router();
    const map = { type: 'D', http_address: engine.address, zmq_address: '127.0.0.1:21001', instance: 'old' } as const;
    const old = started.add(
      new Child(process.execPath, [`${root}test/support/ping-forever.mjs`, router.discovery, map.zmq_address, JSON.stringify(map), '200']),
      (child) => child.stop('SIGKILL'),
    );
    await router.admin.selectable({ decode: 1 });
    const before = (await router.admin.worker('decode', engine.address))!;
    old.signal('SIGSTOP');
    await pause(300);

    const fresh = started.add(new Pinger(router.discovery, map.zmq_address), (pinger) => pinger.close());
    await fresh.ping({ ...map, instance: 'new' });
    await pause(300);
    await fresh.ping({ ...map, instance: 'new' });
    await eventually('the new process is heard', async () => ((await router.admin.worker('decode', engine.address))?.generation ?? 0) > before.generation, 2_000);
    expect(old.ended).toBe(false);
    await router.admin.selectable({ decode: 1 });
  });

  it('14: a router stopped for longer than the TTL drops nobody that goes on pinging, and real silence still expires', async () => {
    const [first, second] = [started.add(await ScriptedEngine.start(), (it) => it.stop()), started.add(await ScriptedEngine.start(), (it) => it.stop())];
    const router = await started.router(['--registration-ttl-secs', String(scale.ttlSecs)]);
    const pingers = [first, second].map((engine, index) => {
      const pinger = started.add(new Pinger(router.discovery, `127.0.0.1:2200${String(index)}`), (it) => it.close());
      return { pinger, map: { type: index === 0 ? 'P' : 'D', http_address: engine.address, zmq_address: `127.0.0.1:2200${String(index)}` } as const };
    });
    for (const { pinger, map } of pingers) await pinger.keepPinging(map, scale.pingMs);
    const before = await router.admin.selectable({ prefill: 1, decode: 1 });

    router.child.signal('SIGSTOP');
    try {
      await pause(scale.stopMs);
    } finally {
      router.child.signal('SIGCONT');
    }
    const until = Date.now() + scale.ttlSecs * 1000 + 1_000;
    while (Date.now() < until) {
      const after = await router.admin.workers();
      expect(after.map(({ id, heartbeat }) => [id, heartbeat === 'lost'])).toEqual(before.map(({ id }) => [id, false]));
      await pause(20);
    }
    expect((await router.post('/v1/completions', { model: 'm', prompt: 'x' })).status).toBe(200);
    expect((await router.admin.get('/api/v1/events?type=expired')).items).toEqual([]);

    pingers[1]!.pinger.silence();
    const silentSince = Date.now();
    await eventually('expiry', async () => (await router.admin.worker('decode', second.address)) === undefined, scale.ttlSecs * 1000 + 5_000);
    expect(Date.now() - silentSince).toBeGreaterThan(scale.ttlSecs * 1000 - scale.pingMs - 300);
    expect(await router.admin.worker('prefill', first.address)).toBeDefined();
  });

  it('14: engines whose pings were lost while the router was stopped are not expired by that time either', async () => {
    const engine = started.add(await ScriptedEngine.start(), (it) => it.stop());
    const router = await started.router(['--registration-ttl-secs', String(scale.ttlSecs)]);
    const map = { type: 'D', http_address: engine.address, zmq_address: '127.0.0.1:22100' } as const;
    const pinger = started.add(new Pinger(router.discovery), (it) => it.close());
    await pinger.ping(map);
    const [before] = await router.admin.selectable({ decode: 1 });
    router.child.signal('SIGSTOP');
    await pause(scale.stopMs);
    router.child.signal('SIGCONT');
    // Its next ping comes only now, as after a pause of the whole machine.
    await pause(200);
    expect((await router.admin.workers()).map(({ id }) => id)).toEqual([before!.id]);
    await pinger.ping(map);
    await pause(500);
    expect((await router.admin.workers()).map(({ id }) => id)).toEqual([before!.id]);
  });

  it.each(['gone', 'stuck'])('a reader of the log that is %s costs log lines, neither requests nor the stop', async (how) => {
    const engine = started.add(await ScriptedEngine.start(), (it) => it.stop());
    const router = await started.router(['--worker-url', engine.url, '--log-level', 'info']);
    await router.admin.selectable({ regular: 1 });
    if (how === 'gone') router.child.process.stderr?.destroy();
    else router.child.process.stderr?.pause();
    // A pipe holds 64 KiB; each request is a line of some 200 bytes.
    for (let round = 0; round < 10; round += 1) {
      const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await router.post('/v1/completions', { model: 'm', prompt: 'x' })).status));
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
    expect(await router.stop()).toBe(0);
  });
});
