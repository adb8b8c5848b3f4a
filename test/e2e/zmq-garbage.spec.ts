import { connect } from 'node:net';
import { readFileSync } from 'node:fs';

import { pack } from 'msgpackr';

import { pause } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { Pinger } from '../support/pinger.js';
import { readSamples, sumOf } from '../support/prometheus-text.js';
import { type RouterProcess } from '../support/router-process.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { Traffic } from '../support/traffic.js';

const good = { type: 'P', http_address: '10.77.0.1:8000', zmq_address: '10.77.0.1:9000' };

/** Host spellings of which none may become a worker. */
const hosts = [
  ...['8.8.8.8:8000', '169.254.169.254:80', '0.0.0.0:8000', '[::]:8000', '[fe80::1]:8000', '[fe80::1%25eth0]:8000', '100.100.100.200:80', '224.0.0.1:80'],
  ...['[::ffff:169.254.169.254]:80', '[64:ff9b::a9fe:a9fe]:80', '[2002:a9fe:a9fe::]:80', '2001:db8::1:8000', '255.255.255.255:80'],
  ...['2130706433:80', '0x7f.1:80', '0177.0.0.1:80', '127.1:80', '010.0.0.1:80', '10.0.0.256:80'],
  ...['', ':', ':8000', '10.77.0.1', '10.77.0.1:', '10.77.0.1:0', '10.77.0.1:65536', '10.77.0.1:08000', '10.77.0.1:8000:1', '[10.77.0.1]:80', '[::1:80'],
  ...['http://', 'http:///', 'http://10.77.0.1:8000/v1', 'http://u:p@10.77.0.1:8000', 'http://10.77.0.1:8000?x', 'http://10.77.0.1:8000#x', 'ftp://10.77.0.1:21'],
  ...['file:///etc/passwd', 'javascript:1', '10.77.0.1:8000\n', ' 10.77.0.1:8000', '10.77.0.1 :8000', '１０.77.0.1:8000', 'ho st:80', 'a..b:80', '-a:80', 'x'.repeat(400)],
];

const maps: readonly unknown[] = [
  ...hosts.map((host) => ({ ...good, http_address: host })),
  ...['p', 'X', '', 'PD', 'PREFILL', null, 1, true, [], {}].map((type) => ({ ...good, type })),
  ...[1, null, true, [], {}, Buffer.from('10.77.0.1:8000')].map((value) => ({ ...good, http_address: value })),
  ...[1, true, [], {}, 'a b', 'a___b', 'é', 'x'.repeat(300)].map((value) => ({ ...good, zmq_address: value })),
  ...[1, [], {}, 'x'.repeat(300), 'a\nb'].map((value) => ({ ...good, instance: value })),
  ...['', 'a b', 1, 'x'.repeat(200)].map((value) => ({ ...good, group: value })),
  ...['nixl2', 1, []].map((value) => ({ ...good, connector: value })),
  ...['now', -1, 0, Number.NaN, Infinity, true].map((value) => ({ ...good, started_at: value })),
  ...['read', 1].map((value) => ({ ...good, transfer_mode: value })),
  ...[{}, [], null, 1, 'P', [good], { type: 'P' }, { http_address: '10.77.0.1:8000' }, { nested: { ...good } }],
];

const deep = Buffer.alloc(5_000, 0x91);
/** Frames that no msgpack writer makes. */
const frames: readonly (readonly Buffer[])[] = [
  [],
  [Buffer.alloc(0)],
  [Buffer.alloc(0), Buffer.alloc(0)],
  [Buffer.alloc(0), Buffer.alloc(0), pack(good)],
  [Buffer.from([0xc1])],
  [Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  [Buffer.from('{"type":"P"}')],
  [pack(good).subarray(0, 20)],
  [Buffer.concat([pack(good), Buffer.from([0])])],
  [Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff])],
  [Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff])],
  [Buffer.from([0xdb, 0xff, 0xff, 0xff, 0xff, 0x41])],
  [Buffer.from([0xc9, 0xff, 0xff, 0xff, 0xff, 0x01])],
  [deep],
  [Buffer.concat([Buffer.from([0x82, 0xa4]), Buffer.from('type'), Buffer.from([0xa1, 0x50, 0xa4]), Buffer.from('type'), Buffer.from([0xa1, 0x44])])],
  [Buffer.concat([Buffer.from([0x81, 0xa4]), Buffer.from('type'), Buffer.from([0xa2, 0xff, 0xfe])])],
  [Buffer.alloc(60_000, 0xff)],
];

const garbage: readonly (readonly Buffer[])[] = [...frames.filter((each) => each.length > 0), ...maps.map((map) => [pack(map)])];
const perSecond = 1_000;
const seconds = 5;

describe('whatever reaches the discovery port', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  async function rejected(router: RouterProcess): Promise<number> {
    return sumOf(readSamples(await (await fetch(`http://${router.adminAddress}/metrics`)).text()), 'switchyard_registrations_total', { kind: 'rejected' });
  }

  function residentMiB(router: RouterProcess): number {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${String(router.child.pid)}/status`, 'utf8'))?.[1]) / 1024;
  }

  it('15: 1,000 garbage messages a second for 5 s lose nothing, register nobody, and fill neither log nor memory', async () => {
    const engines = [started.add(await ScriptedEngine.start(), (it) => it.stop()), started.add(await ScriptedEngine.start(), (it) => it.stop())];
    const router = await started.router(['--registration-ttl-secs', '1.5', '--open-metrics', '--log-level', 'warn']);
    const live = engines.map((engine, index) => {
      const zmq = `127.0.0.1:2300${String(index)}`;
      const pinger = started.add(new Pinger(router.discovery, zmq), (it) => it.close());
      return { pinger, map: { type: index === 0 ? 'P' : 'D', http_address: engine.address, zmq_address: zmq } as const };
    });
    for (const { pinger, map } of live) await pinger.keepPinging(map, 400);
    const before = await router.admin.selectable({ prefill: 1, decode: 1 });
    const sender = started.add(new Pinger(router.discovery), (it) => it.close());
    const named = started.add(new Pinger(router.discovery, '\u001b[31mmany\nlines'), (it) => it.close());
    const huge = started.add(new Pinger(router.discovery), (it) => it.close());
    const warmUp = new Traffic(router, { model: 'm', streams: false });
    await pause(1_000);
    await warmUp.stop();
    const memoryBefore = residentMiB(router);
    const rejectedBefore = await rejected(router);

    const traffic = new Traffic(router, { model: 'm', streams: false });
    let sent = 0;
    const begun = performance.now();
    while (sent < perSecond * seconds) {
      while (sent < Math.min(perSecond * seconds, ((performance.now() - begun) / 1000) * perSecond)) {
        await (sent % 2 === 0 ? sender : named).send(...garbage[sent % garbage.length]!);
        sent += 1;
      }
      if (sent % 500 < 12) {
        await huge.send(Buffer.alloc(200_000, 0x41));
        connect({ host: '127.0.0.1', port: Number(router.discovery.split(':').at(-1)) })
          .on('error', () => undefined)
          .end('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      }
      await pause(5);
    }
    await pause(500);
    await traffic.stop();

    // Not quicker than meant, and not so slow that it was no flood.
    expect((performance.now() - begun) / 1000).toBeLessThan(seconds + 5);
    expect((await rejected(router)) - rejectedBefore).toBeGreaterThanOrEqual(sent * 0.999);
    expect(traffic.failures.slice(0, 3)).toEqual([]);
    expect(traffic.completed).toBeGreaterThan(20);
    const after = await router.admin.workers();
    expect(after.map(({ id, endpoint, selectable }) => [id, endpoint, selectable])).toEqual(before.map(({ id, endpoint }) => [id, endpoint, true]));
    expect((await router.admin.get('/api/v1/events?type=expired')).items).toEqual([]);

    const lines = router.child.stderr.filter((line) => line.includes('registration rejected'));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThanOrEqual(8 * 20);
    expect(router.child.stderr.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([]);
    expect(residentMiB(router) - memoryBefore).toBeLessThan(64);

    // Somebody new is still heard.
    const late = started.add(await ScriptedEngine.start(), (it) => it.stop());
    await live[1]!.pinger.ping({ type: 'D', http_address: late.address, zmq_address: '127.0.0.1:23500' });
    await router.admin.selectable({ prefill: 1, decode: 2 });
  });

  it.each([
    ['unknown keys', { type: 'D', zmq_address: '127.0.0.1:1', future: { a: [1, null, 2n ** 60n] }, dp_size: 1 }],
    ['an empty frame before the message', { type: 'D', zmq_address: '127.0.0.1:1' }],
    ['no ZMQ address', { type: 'D' }],
    ['a MoRI-IO registration', { type: 'D', zmq_address: 'host:127.0.0.1,handshake:6301,notify:61005', dp_size: 1, tp_size: 1, transfer_mode: 'READ' }],
  ])('15: what is odd but legal registers: %s', async (name, fields) => {
    const engine = started.add(await ScriptedEngine.start(), (it) => it.stop());
    const router = await started.router();
    const sender = started.add(new Pinger(router.discovery), (it) => it.close());
    const message = pack({ ...fields, http_address: engine.address });
    await (name.startsWith('an empty frame') ? sender.send(new Uint8Array(0), message) : sender.send(message));
    const [worker] = await router.admin.selectable({ decode: 1 });
    expect(worker!.endpoint).toBe(engine.url);
    if (name.startsWith('a MoRI')) expect(worker).toMatchObject({ connector: { kind: 'moriio', evidence: 'address' } });
  });
});
