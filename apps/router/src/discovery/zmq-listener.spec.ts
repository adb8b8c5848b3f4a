import { spawn, spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { networkAllowList, parseNetwork } from '@switchyard/core';
import { Packr } from 'msgpackr';
import { Dealer, Request } from 'zeromq';
import { discoverySourceContract } from './discovery-source.contract-suite.js';
import { type LookupAll } from './host-gate.js';
import { RecordingSink, until } from './recording-sink.contract-suite.js';
import { defaultAllowList } from './testing/default-allow-list.js';
import { ZmqListener, type ZmqListenerOptions } from './zmq-listener.js';

const packr = new Packr({ useRecords: false });
const ping = (port: number, more: object = {}) =>
  packr.pack({ type: 'P', http_address: `127.0.0.1:${port}`, zmq_address: `127.0.0.1:${port + 1}`, ...more });

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const options = (more: Partial<ZmqListenerOptions> = {}): ZmqListenerOptions & { lines: object[] } => {
  const lines: object[] = [];
  const note = (fields: object) => void lines.push(fields);
  return { host: '127.0.0.1', port: 0, allow: defaultAllowList(), ttlMs: 10_000, log: { warn: note, error: note }, lines, ...more };
};

async function listening(more: Partial<ZmqListenerOptions> = {}) {
  const made = options(more);
  const listener = new ZmqListener(made);
  const sink = new RecordingSink();
  await listener.start(sink);
  closers.push(() => listener.stop());
  const endpoints = () => sink.registrations.map(({ endpoint }) => endpoint);
  const registered = (port: number, deadlineMs?: number) =>
    until(() => endpoints().includes(`http://127.0.0.1:${port}`), () => ({ rejections: sink.rejections.slice(-5), endpoints: endpoints() }), deadlineMs);
  return { listener, sink, lines: made.lines, endpoints, registered, url: `tcp://${listener.address}` };
}

/** libzmq frees the port of a closed socket from a thread of its own, some time later. */
async function listeningAgain(port: number): Promise<Awaited<ReturnType<typeof listening>>> {
  const end = performance.now() + 4_000;
  for (;;) {
    try {
      return await listening({ port });
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

function dealer(url: string, routingId?: string): Dealer {
  const socket = new Dealer({ linger: 0, ...(routingId === undefined ? {} : { routingId }) });
  closers.push(() => socket.close());
  socket.connect(url);
  return socket;
}

discoverySourceContract('the ZMQ listener', async () => {
  const source = new ZmqListener(options());
  let socket: Dealer | null = null;
  return {
    source,
    async state() {
      socket ??= dealer(`tcp://${source.address}`);
      await socket.send(ping(8000));
    },
  };
});

it('registers a valid ping, with or without delimiter and extra frames', async () => {
  const { url, registered, sink } = await listening();
  const plain = dealer(url, '127.0.0.1:8001');
  await plain.send(ping(8000));
  await plain.send([Buffer.alloc(0), ping(8100)]);
  await plain.send([ping(8200), 'extra', 'frames']);
  const request = new Request({ linger: 0 });
  closers.push(() => request.close());
  request.connect(url);
  await request.send(ping(8300));
  for (const port of [8000, 8100, 8200, 8300]) await registered(port);
  expect(sink.registrations.find(({ endpoint }) => endpoint.endsWith(':8000'))).toMatchObject({ source: 'zmq', role: 'prefill', zmqAddress: '127.0.0.1:8001', ttlMs: 10_000 });
  expect(sink.rejections).toEqual([]);
});

describe('garbage is refused, named, and nothing else is disturbed', () => {
  const packed = (fields: object) => ping(8000, fields);
  const wholeMap = ping(8000);
  it.each<[string, Buffer | Buffer[], string]>([
    ['an empty frame', Buffer.alloc(0), 'bad_frames'],
    ['two empty frames', [Buffer.alloc(0), Buffer.alloc(0)], 'bad_frames'],
    ['three frames of rubbish', [Buffer.from('a'), Buffer.from('b'), Buffer.from('c')], 'bad_msgpack'],
    ['random bytes', Buffer.from([0xc1, 0xff, 0x00, 0x93, 0x1e]), 'bad_msgpack'],
    ['truncated msgpack', wholeMap.subarray(0, wholeMap.length - 3), 'bad_msgpack'],
    ['10,000 nested arrays', Buffer.alloc(10_000, 0x91), 'bad_msgpack'],
    ['an array that claims four billion items', Buffer.from([0xdd, 255, 255, 255, 255]), 'bad_msgpack'],
    ['integer keys', packr.pack(new Map([[1, 'P'], [2, '127.0.0.1:8000']] as [number, string][])), 'bad_type'],
    ['an extension type', packr.pack({ type: 'P', http_address: '127.0.0.1:8000', at: new Date(0) }), 'bad_msgpack'],
    ['duplicate keys', Buffer.concat([Buffer.from([0x82]), packr.pack('type'), packr.pack('P'), packr.pack('type'), packr.pack('D')]), 'bad_msgpack'],
    ['broken UTF-8', Buffer.concat([Buffer.from([0x81]), packr.pack('type'), Buffer.from([0xa2, 0xc3, 0x28])]), 'bad_msgpack'],
    ['type X', packed({ type: 'X' }), 'bad_type'],
    ['type null', packed({ type: null }), 'bad_type'],
    ['type p', packed({ type: 'p' }), 'bad_type'],
    ['a numeric http_address', packed({ http_address: 8000 }), 'bad_http_address'],
    ['no http_address', packr.pack({ type: 'P', zmq_address: 'a:1' }), 'bad_http_address'],
    ['no port', packed({ http_address: '127.0.0.1' }), 'bad_http_address'],
    ['port 0', packed({ http_address: '127.0.0.1:0' }), 'bad_http_address'],
    ['port 99999', packed({ http_address: '127.0.0.1:99999' }), 'bad_http_address'],
    ['spaces', packed({ http_address: '127.0.0.1: 8000' }), 'bad_http_address'],
    ['javascript:', packed({ http_address: 'javascript:alert(1)' }), 'bad_http_address'],
    ['a zone id', packed({ http_address: '[fe80::1%25lo]:8000' }), 'bad_http_address'],
    ['a public address', packed({ http_address: '8.8.8.8:8000' }), 'forbidden_host'],
    ['a metadata address', packed({ http_address: '[::ffff:169.254.169.254]:80' }), 'forbidden_host'],
  ])('%s', async (_, message, reason) => {
    const { url, sink, registered, lines } = await listening();
    const bad = dealer(url, 'bad peer');
    await bad.send(message);
    await bad.send(message);
    await until(() => sink.rejections.length === 2, () => sink.rejections);
    expect(sink.rejections[0]).toMatchObject({ reason, sender: 'bad peer' });
    expect(lines).toEqual([expect.objectContaining({ reason, sender: 'bad peer' })]);
    await dealer(url).send(ping(8500));
    await registered(8500);
    await bad.send(ping(8600));
    await registered(8600);
    expect(sink.registrations).toHaveLength(2);
  });

  it('a 10 MB frame costs its sender the connection, and only that', async () => {
    const { url, registered } = await listening();
    const bad = dealer(url, 'bad peer');
    await bad.send(Buffer.alloc(10 * 1024 * 1024, 0xc0));
    await dealer(url).send(ping(8500));
    await registered(8500);
    const again = setInterval(() => void bad.send(ping(8600)), 50);
    closers.push(() => clearInterval(again));
    await registered(8600);
  });

  it('a flood of it delays nobody', async () => {
    const { url, registered, sink, lines } = await listening();
    const bad = dealer(url);
    const kinds = [Buffer.alloc(0), Buffer.from([0xc1]), Buffer.alloc(10_000, 0x91), ping(1, { type: 'X' }), ping(1, { http_address: '8.8.8.8:1' })];
    for (let n = 0; n < 5_000; n++) await bad.send(kinds[n % kinds.length]!);
    const good = dealer(url);
    for (let port = 9000; port < 9050; port++) await good.send(ping(port));
    for (let port = 9000; port < 9050; port++) await registered(port);
    await until(() => sink.rejections.length === 5_000, () => sink.rejections.length);
    expect(sink.registrations).toHaveLength(50);
    expect(lines.length).toBeLessThanOrEqual(5);
  });

  it('a sink that throws ends nothing', async () => {
    const made = options();
    const listener = new ZmqListener(made);
    closers.push(() => listener.stop());
    const sink = new RecordingSink();
    let calls = 0;
    await listener.start({
      register: (registration) => {
        calls += 1;
        if (calls === 1) throw new Error('ours');
        sink.register(registration);
      },
      withdraw: () => undefined,
      rejected: () => undefined,
    });
    const good = dealer(`tcp://${listener.address}`);
    await good.send(ping(8000));
    await good.send(ping(8100));
    await until(() => sink.registrations.length === 1, () => calls);
    expect(made.lines).toHaveLength(1);
  });
});

it('hears a restarted engine that has the identity of its hanging predecessor', async () => {
  const { url, registered } = await listening();
  const first = dealer(url, '127.0.0.1:8001');
  await first.send(ping(8000));
  await registered(8000);
  const second = dealer(url, '127.0.0.1:8001');
  await second.send(ping(8100));
  await registered(8100, 3_000);
  await second.send(ping(8200));
  await registered(8200, 3_000);
});

describe('senders', () => {
  const elsewhere = () => {
    const parsed = parseNetwork('192.0.2.0/24');
    return networkAllowList(parsed.ok ? [parsed.network] : []);
  };

  it('from outside the allowed networks are refused before they say anything', async () => {
    const { url, sink, lines } = await listening({ allow: elsewhere() });
    await dealer(url).send(ping(8000, { http_address: '192.0.2.1:8000' }));
    await until(() => sink.rejections.length > 0, () => sink.rejections);
    expect(sink.rejections[0]).toMatchObject({ reason: 'forbidden_sender', sender: '127.0.0.1' });
    expect(sink.registrations).toEqual([]);
    expect(lines).toHaveLength(1);
  });

  it('that were refused come by themselves once a router allows them', async () => {
    const refusing = await listening({ allow: elsewhere() });
    await dealer(refusing.url).send(ping(8000));
    await until(() => refusing.sink.rejections.length > 0, () => refusing.lines);
    await refusing.listener.stop();
    const { registered } = await listeningAgain(Number(refusing.url.split(':').at(-1)));
    await registered(8000);
  });
});

describe('host names', () => {
  const named = (name: string, fields: object = {}) => packr.pack({ type: 'P', http_address: `${name}:8000`, zmq_address: null, ...fields });

  it('are registered when every address of them may be called, in order, and hold up nobody', async () => {
    let release: (addresses: readonly string[]) => void = () => undefined;
    const lookup: LookupAll = (host) => (host === 'slow' ? new Promise((resolve) => (release = resolve)) : Promise.resolve(host === 'evil' ? ['10.0.0.1', '8.8.8.8'] : ['10.0.0.1']));
    const { url, endpoints, sink, listener } = await listening({ lookup });
    const socket = dealer(url);
    for (const message of [named('slow', { instance: '1' }), named('Quick'), named('evil'), named('slow', { instance: '2' })]) await socket.send(message);
    await until(() => endpoints().includes('http://quick:8000') && sink.rejections.length === 1, endpoints);
    expect(sink.rejections[0]).toMatchObject({ reason: 'forbidden_host' });
    await listener.drained();
    expect(endpoints()).toEqual(['http://quick:8000']);
    release(['10.0.0.2']);
    await until(() => sink.registrations.length === 3, endpoints);
    expect(sink.registrations.slice(1).map(({ endpoint, instance }) => [endpoint, instance])).toEqual([
      ['http://slow:8000', '1'],
      ['http://slow:8000', '2'],
    ]);
  });

  it('of this machine resolve by the system', async () => {
    const { url, endpoints } = await listening();
    await dealer(url).send(named('localhost'));
    await until(() => endpoints().includes('http://localhost:8000'), endpoints);
  });
});

it('has handed everything on when drained, also after a pause', async () => {
  const { url, listener, sink, registered } = await listening();
  const socket = dealer(url);
  await socket.send(ping(8000));
  await registered(8000);
  for (let n = 0; n < 900; n++) await socket.send(ping(8100 + n));
  const end = performance.now() + 300;
  while (performance.now() < end);
  await listener.drained(20);
  expect(sink.registrations).toHaveLength(901);
});

it('says in bounded time that it is drained under endless traffic', async () => {
  const { url, listener } = await listening();
  const socket = dealer(url);
  const timer = setInterval(() => void socket.send(ping(8000)), 1);
  closers.push(() => clearInterval(timer));
  await until(() => listener.address !== null, () => null);
  const startedAt = performance.now();
  await listener.drained();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

describe('binding', () => {
  it('fails the start when the port is taken, and leaves nothing behind', async () => {
    const { listener } = await listening();
    const port = Number(listener.address?.split(':').at(-1));
    const second = new ZmqListener(options({ port }));
    await expect(second.start(new RecordingSink())).rejects.toThrow(`discovery cannot listen on 127.0.0.1:${port}`);
    await second.stop();
    await listener.stop();
    expect((await listeningAgain(port)).listener.address).toBe(`127.0.0.1:${port}`);
  });

  it('tells the real address', async () => {
    expect((await listening()).listener.address).toMatch(/^127\.0\.0\.1:[1-9]\d*$/);
    expect((await listening({ host: 'localhost' })).listener.address).toMatch(/:[1-9]\d*$/);
    expect((await listening({ host: '*' })).listener.address).toMatch(/^0\.0\.0\.0:[1-9]\d*$/);
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
  (hasIpv6 ? it : it.skip)('on IPv6 takes both families, and bare IPv6 addresses register', async () => {
    const { listener, endpoints } = await listening({ host: '::' });
    expect(listener.address).toMatch(/^\[::\]:\d+$/);
    const port = listener.address?.split(':').at(-1);
    await dealer(`tcp://127.0.0.1:${port}`).send(ping(8000));
    const six = new Dealer({ linger: 0, ipv6: true });
    closers.push(() => six.close());
    six.connect(`tcp://[::1]:${port}`);
    await six.send(ping(1, { http_address: '::1:8000', zmq_address: '[::1]:21001' }));
    await until(() => endpoints().length === 2, endpoints);
    expect(endpoints().sort()).toEqual(['http://127.0.0.1:8000', 'http://[::1]:8000']);
  });
});

const python = spawnSync('/usr/bin/python3', ['-c', 'import zmq, msgpack']).status === 0 ? '/usr/bin/python3' : null;
(python ? it : it.skip)('registers a pyzmq and msgpack sender (skipped: /usr/bin/python3 has no zmq or msgpack)', async () => {
  const { url, registered, sink } = await listening();
  const script = `
import sys, time, zmq, msgpack
sock = zmq.Context().socket(zmq.DEALER)
sock.setsockopt_string(zmq.IDENTITY, "127.0.0.1:21001")
sock.connect(sys.argv[1])
data = {"type": "D", "http_address": "127.0.0.1:8000", "zmq_address": "127.0.0.1:21001"}
sock.send(msgpack.dumps(data))
time.sleep(30)
`;
  const child = spawn(python ?? '', ['-c', script, url], { stdio: 'ignore' });
  closers.push(() => child.kill('SIGKILL'));
  await registered(8000);
  expect(sink.registrations[0]).toMatchObject({ role: 'decode', zmqAddress: '127.0.0.1:21001' });
});
