import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { RecordingSink, until } from '../discovery/recording-sink.contract-suite.js';
import { defaultAllowList } from '../discovery/testing/default-allow-list.js';
import { ZmqListener } from '../discovery/zmq-listener.js';
import { announce } from './announce.js';
import { readAnnounceOptions } from './announce-options.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** An engine whose health and start time are what the test says. */
async function engine() {
  const state = { health: 200, startedAt: null as number | null };
  const serve = () =>
    createServer((request, response) => {
      if (request.url === '/health') response.writeHead(state.health).end();
      else if (request.url === '/metrics' && state.startedAt !== null) response.end(`x 1\nprocess_start_time_seconds ${state.startedAt}\n`);
      else response.writeHead(404).end();
    });
  let server = serve();
  const port = await listen(server);
  closers.push(() => closed(server));
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    state,
    down: () => closed(server),
    up: async () => {
      server = serve();
      await listen(server, port);
    },
  };
}

async function router() {
  const listener = new ZmqListener({
    host: '127.0.0.1',
    port: 0,
    allow: defaultAllowList(),
    ttlMs: 10_000,
    log: { warn: () => undefined, error: () => undefined },
  });
  const sink = new RecordingSink();
  await listener.start(sink);
  closers.push(() => listener.stop());
  const heard = async (more: number) => {
    const target = sink.registrations.length + more;
    await until(() => sink.registrations.length >= target, () => [sink.registrations.length, sink.rejections]);
    return sink.registrations.at(-1)!;
  };
  return { address: listener.address ?? '', sink, heard };
}

interface AdminCallSeen {
  readonly body: Record<string, unknown>;
  readonly authorization: string | undefined;
}

/** An admin API that answers drain calls as the test says. */
async function admin(answer: (call: number) => { status: number; body: unknown } | Promise<{ status: number; body: unknown }>) {
  const calls: AdminCallSeen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      expect([request.method, request.url]).toEqual(['POST', '/api/v1/endpoints/drain']);
      calls.push({ body: JSON.parse(Buffer.concat(chunks).toString()), authorization: request.headers.authorization });
      void Promise.resolve(answer(calls.length)).then(({ status, body }) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)));
    });
  });
  const port = await listen(server);
  closers.push(() => closed(server));
  return { url: `http://127.0.0.1:${port}`, calls };
}

const drained = { status: 200, body: { items: [], drained: true } };
const waiting = { status: 202, body: { items: [], drained: false } };
const refusal = (status: number, code: string) => ({ status, body: { error: { code, message: 'because' } } });

interface Announcer {
  /** As SIGTERM does. */
  end(): void;
  readonly code: Promise<number | null>;
  readonly lines: string[];
}

type Start = (argv: string[]) => Announcer;

const inProcess: Start = (argv) => {
  const options = readAnnounceOptions(argv, {});
  if (!options) throw new Error('no options');
  const end = new AbortController();
  const lines: string[] = [];
  const code = announce(options, end.signal, (line) => lines.push(line), 100);
  closers.push(async () => {
    end.abort();
    await code;
  });
  return { end: () => end.abort(), code, lines };
};

const script = join(import.meta.dirname, '../../../../tools/announce/switchyard_announce.py');
const python = spawnSync('/usr/bin/python3', ['-c', 'import zmq, msgpack']).status === 0 ? '/usr/bin/python3' : null;

const inPython: Start = (argv) => {
  const child: ChildProcess = spawn(python ?? '', [script, ...argv], { stdio: ['ignore', 'ignore', 'pipe'] });
  const lines: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => lines.push(...chunk.toString().trim().split('\n')));
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  closers.push(async () => {
    child.kill('SIGKILL');
    await code;
  });
  return { end: () => child.kill('SIGTERM'), code, lines };
};

const twins: [string, Start, typeof it][] = [
  ['the announcer', inProcess, it],
  [python ? 'its Python twin' : 'its Python twin (skipped: /usr/bin/python3 has no zmq or msgpack)', inPython, python ? it : it.skip],
];

describe.each(twins)('%s', (_, start, test) => {
  const flags = (at: { url: string }, to: { address: string }, more: string[] = []) => ['--engine', at.url, '--role', 'decode', '--router', to.address, ...more];

  test('registers the engine with all that was said of it, again and again', async () => {
    const [at, to] = [await engine(), await router()];
    at.state.startedAt = 1_762_470_000.25;
    start(flags(at, to, ['--connector', 'nixl', '--group', 'g1', '--zmq-address', '127.0.0.1:21001']));
    await to.heard(2);
    expect(to.sink.registrations[0]).toEqual({
      source: 'zmq',
      role: 'decode',
      endpoint: at.url,
      zmqAddress: '127.0.0.1:21001',
      instance: 'started-1762470000250',
      group: 'g1',
      connector: { kind: 'nixl', evidence: 'label' },
      transferMode: null,
      startedAtSecs: 1_762_470_000.25,
      models: null,
      ttlMs: 10_000,
    });
    expect(to.sink.registrations[1]).toEqual(to.sink.registrations[0]);
    expect(to.sink.rejections).toEqual([]);
  }, 20_000);

  test('says nothing it does not know, and announces the address it is told to', async () => {
    const [at, to] = [await engine(), await router()];
    start(flags(at, to, ['--http-address', 'localhost:8000']));
    expect(await to.heard(1)).toMatchObject({ endpoint: 'http://localhost:8000', zmqAddress: null, instance: null, group: null, connector: null, startedAtSecs: null });
  }, 20_000);

  test('is silent while the engine is not healthy, and names a new process after a refused connection', async () => {
    const [at, to] = [await engine(), await router()];
    await at.down();
    const { lines } = start(flags(at, to));
    await until(() => lines.some((line) => line.includes('refused')), () => lines);
    expect(to.sink.calls).toBe(0);
    at.state.health = 503;
    await at.up();
    await until(() => lines.length > 0, () => lines);
    at.state.health = 200;
    const first = await to.heard(1);
    expect(first.instance).toMatch(/^drawn-[0-9a-f]{16}$/);
    expect(to.sink.registrations.every(({ instance }) => instance === first.instance)).toBe(true);
  }, 20_000);

  test('without the means to drain ends its pings at SIGTERM', async () => {
    const [at, to] = [await engine(), await router()];
    const { end, code } = start(flags(at, to));
    await to.heard(1);
    end();
    expect(await code).toBe(0);
  }, 20_000);

  test('drains with force at SIGTERM, pings on meanwhile, and exits 0 when drained', async () => {
    const [at, to] = [await engine(), await router()];
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const api = await admin(async (call) => {
      if (call === 1) return refusal(503, 'store_unavailable');
      if (call === 2) return waiting;
      await held;
      return drained;
    });
    const { end, code, lines } = start(flags(at, to, ['--admin', api.url, '--token', 'secret']));
    await to.heard(1);
    end();
    await until(() => api.calls.length === 3, () => [api.calls.length, lines]);
    await to.heard(1);
    letGo();
    expect(await code).toBe(0);
    expect(api.calls[0]!.authorization).toBe('Bearer secret');
    expect(api.calls[0]!.body).toMatchObject({ endpoint: at.url, role: 'decode', force: true });
    expect(api.calls[0]!.body['waitSecs']).toBeGreaterThan(5);
  }, 20_000);

  test.each<[string, () => { status: number; body: unknown }, string, number]>([
    ['not drained in time', () => waiting, '0.3', 3],
    ['unknown to the router', () => refusal(404, 'unknown_endpoint'), '600', 0],
    ['refused for its token', () => refusal(401, 'unauthorized'), '600', 1],
    ['refused as a viewer', () => refusal(403, 'forbidden'), '600', 1],
  ])('drain: %s', async (_case, answer, waitSecs, expected) => {
    const [at, to, api] = [await engine(), await router(), await admin(answer)];
    const { end, code } = start(flags(at, to, ['--admin', api.url, '--token', 'secret', '--drain-wait-secs', waitSecs]));
    await to.heard(1);
    end();
    expect(await code).toBe(expected);
  }, 20_000);

  test('drain: an admin API that cannot be reached is a drain that takes too long', async () => {
    const [at, to] = [await engine(), await router()];
    const { end, code, lines } = start(flags(at, to, ['--admin', 'http://127.0.0.1:1', '--token', 'secret', '--drain-wait-secs', '0.3']));
    await to.heard(1);
    end();
    expect(await code).toBe(3);
    expect(lines.join('\n')).toContain('127.0.0.1:1');
  }, 20_000);
});

(python ? it : it.skip)('the Python twin refuses an admin listener without a token as well', async () => {
  const { code, lines } = inPython(['--engine', 'http://127.0.0.1:1', '--role', 'decode', '--router', '127.0.0.1:1', '--admin', 'http://127.0.0.1:1']);
  expect(await code).toBe(2);
  expect(lines.join('\n')).toContain('--admin needs a token');
});

it('finds a router that comes later, and tells it nothing of the past', async () => {
  const at = await engine();
  const place = createServer();
  const port = await listen(place);
  await closed(place);
  const { lines } = inProcess(['--engine', at.url, '--role', 'prefill', '--router', `127.0.0.1:${port}`]);
  await until(() => lines.some((line) => line.includes('no connection to the router')), () => lines);
  const listener = new ZmqListener({
    host: '127.0.0.1',
    port,
    allow: defaultAllowList(),
    ttlMs: 10_000,
    log: { warn: () => undefined, error: () => undefined },
  });
  const sink = new RecordingSink();
  await listener.start(sink);
  closers.unshift(() => listener.stop());
  await until(() => sink.registrations.length >= 1, () => lines);
  expect(sink.registrations.length).toBeLessThan(3);
  await until(() => lines.at(-1)?.startsWith('announcing') === true, () => lines);
}, 20_000);
