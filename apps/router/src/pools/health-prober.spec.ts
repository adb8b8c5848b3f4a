import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { HealthProber, type HealthProberOptions } from './health-prober.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Routes = Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => unknown>>;

async function engine(routes: Routes) {
  const seen: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    seen.push(request);
    const route = routes[request.url ?? ''];
    if (route) route(request, response);
    else response.writeHead(404).end();
  };
  const server = createServer(listener);
  const endpoint = await listen(server);
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { endpoint, seen, server };
}

function prober(more: Partial<HealthProberOptions> = {}): HealthProber {
  const made = new HealthProber({ healthPath: '/health', healthTimeoutMs: 3_000, connectTimeoutMs: 1_000, engineApiKey: null, ...more });
  closers.push(() => made.close());
  return made;
}

const ok: Routes = {
  '/health': (_, response) => response.end(),
  '/version': (_, response) => response.end('{"version":"0.11.0"}'),
  '/v1/models': (_, response) => response.end('{"object":"list","data":[{"id":"a"},{"id":"b"},{"id":"a"}]}'),
  '/metrics': (_, response) => response.end('x 1\nprocess_start_time_seconds 1762470000.25\n'),
};
const all = { what: ['version', 'models', 'startedAt'] } as const;

it('learns everything of a good engine in one round', async () => {
  const { endpoint, seen } = await engine(ok);
  expect(await prober().probe(endpoint, all)).toEqual({
    health: 'ok',
    status: 200,
    version: '0.11.0',
    models: [{ id: 'a' }, { id: 'b' }],
    startedAtSecs: 1_762_470_000.25,
    load: null,
    finishedAll: true,
  });
  expect(seen.map(({ url }) => url).sort()).toEqual(['/health', '/metrics', '/v1/models', '/version']);
});

it('reads the load from the metrics it reads anyway, or from them alone', async () => {
  const metrics = 'process_start_time_seconds 7\nvllm:num_requests_running 3\nvllm:num_requests_waiting 1\nvllm:kv_cache_usage_perc 0.5\n';
  const { endpoint, seen } = await engine({ ...ok, '/metrics': (_, response) => response.end(metrics) });
  const load = { running: 3, waiting: 1, kvUsage: 0.5 };
  expect(await prober().probe(endpoint, { what: [...all.what, 'load'] })).toMatchObject({ startedAtSecs: 7, load });
  expect(seen.filter(({ url }) => url === '/metrics')).toHaveLength(1);
  expect(await prober().probe(endpoint, all)).toMatchObject({ startedAtSecs: 7, load: null });
  seen.length = 0;
  expect(await prober().metrics(endpoint, true, new AbortController().signal)).toEqual({ startedAtSecs: 7, load });
  expect(seen.map(({ url }) => url)).toEqual(['/metrics']);
  expect(await prober().metrics('http://127.0.0.1:1', true, new AbortController().signal)).toEqual({ startedAtSecs: null, load: null });
});

it('asks only for what is wanted, on the health path that is set', async () => {
  const { endpoint, seen } = await engine({ '/ready': (_, response) => response.writeHead(204).end() });
  const result = await prober({ healthPath: '/ready' }).probe(endpoint, { what: [] });
  expect(result).toEqual({ health: 'ok', status: 204, version: null, models: null, startedAtSecs: null, load: null, finishedAll: true });
  expect(seen).toHaveLength(1);
});

it('sends the engine key on every call when there is one', async () => {
  const { endpoint, seen } = await engine(ok);
  await prober({ engineApiKey: 'secret' }).probe(endpoint, all);
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill('Bearer secret'));
  await prober().probe(endpoint, all);
  expect(seen.slice(4).every(({ headers }) => headers.authorization === undefined)).toBe(true);
});

it.each([404, 500, 503, 302])('health is failed on %d, and the facts stand on their own', async (status) => {
  const { endpoint, seen } = await engine({ ...ok, '/health': (_, response) => response.writeHead(status, { location: '/version' }).end() });
  expect(await prober().probe(endpoint, all)).toMatchObject({ health: 'failed', status, version: '0.11.0' });
  expect(seen).toHaveLength(4);
});

it('tells a refused connection from a silent engine and from a broken one', async () => {
  const { endpoint, server } = await engine(ok);
  await new Promise((resolve) => server.close(resolve));
  expect(await prober().probe(endpoint, all)).toMatchObject({ health: 'refused', status: null, version: null, finishedAll: true });

  const silent = await engine({ '/health': () => undefined });
  expect(await prober({ healthTimeoutMs: 100 }).probe(silent.endpoint, { what: [] })).toMatchObject({ health: 'timeout', status: null });

  const breaking = createTcpServer((socket) => socket.destroy());
  closers.push(() => breaking.close());
  expect(await prober().probe(await listen(breaking), all)).toMatchObject({ health: 'failed', status: null, models: null });
});

it('gives a fact half a second, without making health wait or fail', async () => {
  const hang = () => undefined;
  const { endpoint } = await engine({ ...ok, '/version': hang, '/v1/models': hang, '/metrics': (_, response) => response.write('x 1\n') });
  const startedAt = performance.now();
  expect(await prober().probe(endpoint, all)).toMatchObject({ health: 'ok', version: null, models: null, startedAtSecs: null, finishedAll: true });
  expect(performance.now() - startedAt).toBeGreaterThan(450);
  expect(performance.now() - startedAt).toBeLessThan(2_500);
});

it.each<[string, Routes]>([
  ['no JSON', { '/v1/models': (_, r) => r.end('<html>'), '/version': (_, r) => r.end('') }],
  ['other JSON', { '/v1/models': (_, r) => r.end('{"data":7}'), '/version': (_, r) => r.end('[]') }],
  ['null', { '/v1/models': (_, r) => r.end('null'), '/version': (_, r) => r.end('{"version":null}') }],
  ['an empty list', { '/v1/models': (_, r) => r.end('{"data":[]}'), '/version': (_, r) => r.end('{"version":""}') }],
  ['odd ids', { '/v1/models': (_, r) => r.end('{"data":[{"id":7},null,{"id":""},{}]}'), '/version': (_, r) => r.end('{"version":7}') }],
  ['a version that writes to the terminal', { '/v1/models': (_, r) => r.end('{}'), '/version': (_, r) => r.end('{"version":"1\\u001b[31m"}') }],
  ['errors', { '/v1/models': (_, r) => r.writeHead(401).end('{"data":[{"id":"a"}]}'), '/version': (_, r) => r.writeHead(500).end('{"version":"1"}') }],
  ['floods', { '/v1/models': (_, r) => r.end(`{"data":[{"id":"a"}],"x":"${'y'.repeat(2_000_000)}"}`), '/version': (_, r) => r.end(`{"version":"1","x":"${'y'.repeat(100_000)}"}`) }],
])('does not learn from %s', async (_, routes) => {
  const { endpoint } = await engine({ ...ok, ...routes });
  expect(await prober().probe(endpoint, all)).toMatchObject({ health: 'ok', version: null, models: null, startedAtSecs: 1_762_470_000.25 });
});

it('finds the start time late in a long exposition, and gives up on an endless one', async () => {
  const filler = `vllm:request_success_total{x="${'y'.repeat(90)}"} 1\n`;
  const late = await engine({ ...ok, '/metrics': (_, response) => response.end(`${filler.repeat(20_000)}process_start_time_seconds 7\n`) });
  expect(await prober().probe(late.endpoint, all)).toMatchObject({ startedAtSecs: 7 });
  const endless = await engine({ ...ok, '/metrics': (_, response) => response.end(`${filler.repeat(60_000)}process_start_time_seconds 7\n`) });
  expect(await prober().probe(endless.endpoint, all)).toMatchObject({ startedAtSecs: null, finishedAll: true });
});

it('does not blame an engine for closing an idle connection', async () => {
  const connections = new Set<number>();
  let answered = 0;
  const server = createTcpServer((socket) => {
    const id = connections.size;
    connections.add(id);
    socket.on('error', () => undefined);
    socket.on('data', () => {
      // The first connection dies as its second request arrives, as a server does that was just closing it.
      if (id === 0 && answered > 0) {
        socket.resetAndDestroy();
        return;
      }
      answered += 1;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
  closers.push(() => server.close());
  const endpoint = await listen(server);
  const asking = prober();
  for (let n = 0; n < 2; n++) expect(await asking.probe(endpoint, { what: [] })).toMatchObject({ health: 'ok', status: 200 });
  expect(connections.size).toBe(2);
});

it('ends at once when called off, and says that it did not finish', async () => {
  const { endpoint, seen } = await engine({ '/health': () => undefined });
  const off = new AbortController();
  const result = prober({ healthTimeoutMs: 60_000 }).probe(endpoint, { ...all, signal: off.signal });
  while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  off.abort();
  expect(await result).toMatchObject({ finishedAll: false, startedAtSecs: null });
});
