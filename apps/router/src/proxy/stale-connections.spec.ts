import { ProxyHarness, until } from './testing/proxy-harness.js';
import { answer, type EngineScript } from './testing/scripted-engine.js';

const good = answer(200, '{"ok":1}');

describe('an engine connection that was used before', () => {
  let proxy: ProxyHarness;

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  it('is repeated once on a fresh one when it breaks before any byte, and blamed on nobody', async () => {
    proxy = await ProxyHarness.start({ retryMaxAttempts: 1 });
    let stale = false;
    const script: EngineScript = (request, res, req) => {
      if (!stale) good(request, res, req);
      else {
        stale = false;
        req.socket.resetAndDestroy();
      }
    };
    const engine = await proxy.regular(script);
    await (await proxy.chat()).text();
    stale = true;
    const response = await proxy.chat();
    expect([response.status, await response.text()]).toEqual([200, '{"ok":1}']);
    expect(engine.connections).toBe(2);
    expect(proxy.scheduler.outcomes.map(({ result }) => result)).toEqual(['succeeded', 'succeeded']);
    expect(proxy.telemetry.upstreamErrors).toEqual(['stale_connection']);
    expect(proxy.telemetry.retries).toEqual([]);
  });

  it('is repeated only once', async () => {
    proxy = await ProxyHarness.start({ retryMaxAttempts: 1 });
    let broken = false;
    const engine = await proxy.regular((request, res, req) => (broken ? req.socket.resetAndDestroy() : good(request, res, req)));
    await (await proxy.chat()).text();
    broken = true;
    expect((await proxy.chat()).status).toBe(502);
    expect(engine.requests).toHaveLength(3);
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'succeeded' }, { result: 'failed', fault: 'reset' }]);
  });

  it('takes the other idle ones of a restarted engine with it', async () => {
    proxy = await ProxyHarness.start({ retryMaxAttempts: 1 });
    let waiting: (() => void)[] = [];
    let stale = false;
    const engine = await proxy.regular((request, res, req) => {
      if (stale) req.socket.resetAndDestroy();
      else waiting.push(() => void good(request, res, req));
    });
    const together = Array.from({ length: 12 }, () => proxy.chat());
    await until(() => waiting.length === 12, 'twelve connections are busy');
    for (const go of waiting.splice(0)) go();
    for (const response of await Promise.all(together)) await response.text();
    stale = true;
    expect((await proxy.chat()).status).toBe(502);
    await until(() => engine.sockets.size === 0, 'no idle connection is left');
    stale = false;
    waiting = [];
    const next = proxy.chat();
    await until(() => waiting.length === 1, 'the next request arrives');
    waiting[0]!();
    expect((await next).status).toBe(200);
    expect(engine.connections).toBe(14);
  });

  it('is closed after its idle time', async () => {
    proxy = await ProxyHarness.start({ upstreamKeepaliveMs: 60 });
    const engine = await proxy.regular(good);
    await (await proxy.chat()).text();
    expect(engine.sockets.size).toBe(1);
    await until(() => engine.sockets.size === 0, 'the idle connection closes');
  });

  it('is not needed when the engine closed it while idle', async () => {
    proxy = await ProxyHarness.start();
    const engine = await proxy.regular(good);
    await (await proxy.chat()).text();
    for (const socket of engine.sockets) socket.end();
    await until(() => engine.sockets.size === 0, 'the engine closes');
    expect((await proxy.chat()).status).toBe(200);
    expect(proxy.telemetry.upstreamErrors).toEqual([]);
  });
});
