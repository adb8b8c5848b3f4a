import { ProxyHarness, until } from './testing/proxy-harness.js';
import { answer, type EngineScript } from './testing/scripted-engine.js';

const hang: EngineScript = () => undefined;
const oneEvent: EngineScript = (_request, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write('data: {"a":1}\n\n');
};

describe('a worker that is taken away under its requests', () => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start({ retryMaxAttempts: 1 });
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  it('loses a request without a first byte to another worker, at no cost of attempts', async () => {
    const first = await proxy.regular(hang);
    const response = proxy.chat();
    await until(() => first.requests.length === 1, 'the first worker is called');
    proxy.scheduler.workers = [];
    await proxy.regular(answer(200, '{"ok":1}'));
    proxy.scheduler.revokeAll('evicted', true);
    expect(await (await response).text()).toBe('{"ok":1}');
    await until(() => first.sockets.size === 0, 'the evicted call is aborted');
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'cancelled', fault: 'revoked' }, { result: 'succeeded' }]);
    expect(proxy.telemetry.retries).toEqual(['revoked']);
  });

  it('answers 503 worker_evicted when there is no other', async () => {
    const first = await proxy.regular(hang);
    const response = proxy.chat();
    await until(() => first.requests.length === 1, 'the worker is called');
    proxy.scheduler.workers = [];
    proxy.scheduler.revokeAll('evicted', true);
    const { status, headers } = await response;
    expect([status, headers.get('x-switchyard-error')]).toEqual([503, 'worker_evicted']);
  });

  it('ends a stream that has begun with an event', async () => {
    await proxy.regular(oneEvent);
    const client = await proxy.raw(proxy.chatText({ stream: true }));
    await until(() => client.received.includes('"a"'), 'the stream begins');
    proxy.scheduler.revokeAll('evicted', true);
    await until(() => client.closed, 'the connection ends');
    client.socket.destroy();
    expect(client.received).toMatch(/data: \{"error":\{.*"code":"worker_evicted"\}\}\n\n\r\n$/);
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'cancelled', fault: 'revoked' }]);
  });

  it('keeps running calls when it merely departed', async () => {
    let finish: () => void = () => undefined;
    await proxy.regular((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: 1\n\n');
      finish = () => res.end('data: 2\n\n');
    });
    const response = await proxy.chat({ stream: true });
    proxy.scheduler.revokeAll('departed', false);
    finish();
    expect(await response.text()).toBe('data: 1\n\ndata: 2\n\n');
  });

  it('is not called when the news comes ahead of the grant', async () => {
    const first = await proxy.regular(answer(200, '{"first":1}'));
    let once = true;
    proxy.scheduler.onReserve = () => {
      if (!once) return undefined;
      once = false;
      const [worker] = proxy.scheduler.workers;
      proxy.scheduler.live.add(1000);
      queueMicrotask(() => proxy.scheduler.revokeAll('departed', false));
      return { kind: 'single', grantId: 1000, worker: { workerId: worker!.id, role: 'regular', endpoint: worker!.endpoint, zmqAddress: null, connector: 'unknown', reason: 'only_candidate' } };
    };
    proxy.scheduler.revokeAll('departed', false);
    expect((await proxy.chat()).status).toBe(200);
    expect(first.requests).toHaveLength(1);
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'cancelled' }, { result: 'succeeded' }]);
  });
});
