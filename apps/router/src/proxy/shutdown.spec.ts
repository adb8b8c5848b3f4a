import { ProxyHarness, until } from './testing/proxy-harness.js';
import { type EngineScript } from './testing/scripted-engine.js';

const hang: EngineScript = () => undefined;

describe('shutting down', () => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start();
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  it('refuses new requests, says so to probes, and lets a running stream finish', async () => {
    let finish: () => void = () => undefined;
    await proxy.regular((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: 1\n\n');
      finish = () => res.end('data: 2\n\n');
    });
    const running = await proxy.chat({ stream: true });
    proxy.server.beginShutdown();
    let drained = false;
    void proxy.server.drained().then(() => (drained = true));
    const refused = await proxy.chat();
    expect([refused.status, refused.headers.get('x-switchyard-error'), refused.headers.get('connection')]).toEqual([503, 'shutting_down', 'close']);
    const readiness = await fetch(`${proxy.url}/readiness`);
    expect([readiness.status, await readiness.json()]).toMatchObject([503, { status: 'shutting_down' }]);
    expect(drained).toBe(false);
    finish();
    expect(await running.text()).toBe('data: 1\n\ndata: 2\n\n');
    await until(() => drained, 'the server is drained');
  });

  it('at the end of the grace time cuts streams as a failing engine would and answers the rest', async () => {
    const engine = await proxy.regular((request, res) => {
      if (!request.body.includes('"stream":true')) return;
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: 1\n\n');
    });
    const stream = await proxy.raw(proxy.chatText({ stream: true }));
    const plain = proxy.chat();
    await until(() => engine.requests.length === 2 && stream.received.includes('data: 1'), 'both run');
    proxy.server.beginShutdown();
    proxy.server.abortAll();
    expect([(await plain).status, (await plain).headers.get('x-switchyard-error')]).toEqual([503, 'shutting_down']);
    await until(() => stream.closed, 'the stream is cut');
    expect(stream.received).toMatch(/data: \{"error":\{.*"code":"upstream_stream_error"\}\}\n\n\r\n$/);
    stream.socket.destroy();
    await proxy.server.drained();
    await until(() => engine.sockets.size === 0, 'engine connections close');
    expect(proxy.scheduler.outcomes.map(({ result }) => result)).toEqual(['cancelled', 'cancelled']);
  });

  it('closes in spite of idle client connections', async () => {
    await proxy.regular(hang);
    const idle = await Promise.all(Array.from({ length: 5 }, () => proxy.raw('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')));
    await until(() => idle.every(({ received }) => received.includes('ok')), 'all are answered');
    proxy.server.beginShutdown();
    await proxy.server.close();
    await until(() => idle.every(({ closed }) => closed), 'all are closed');
    for (const { socket } of idle) socket.destroy();
  });
});
