import { type ProxyOptions } from './proxy-options.js';
import { errorOf, ProxyHarness, until } from './testing/proxy-harness.js';
import { answer, type EngineScript } from './testing/scripted-engine.js';

const hang: EngineScript = () => undefined;
const headOnly: EngineScript = (_request, res) => {
  res.writeHead(200, { 'content-type': 'application/json' });
  res.flushHeaders();
};

describe('time limits', () => {
  let proxy: ProxyHarness;

  const start = async (options: Partial<ProxyOptions>) => {
    proxy = await ProxyHarness.start({ retryMaxAttempts: 1, ...options });
  };

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  it.each([
    ['no head', hang],
    ['a head without a body', headOnly],
  ])('answers 504 first_byte for %s', async (_name, script) => {
    await start({ firstByteTimeoutMs: 60 });
    const engine = await proxy.regular(script);
    const response = await proxy.chat();
    expect(response.status).toBe(504);
    expect(errorOf(await response.text())).toMatchObject({ code: 'upstream_timeout', param: 'first_byte', type: 'server_error' });
    await until(() => engine.sockets.size === 0, 'the engine connection closes');
    expect(proxy.scheduler.outcomes).toMatchObject([{ fault: 'first_byte_timeout' }]);
  });

  it('answers 504 total and tries nobody else', async () => {
    await start({ requestTimeoutMs: 60, retryMaxAttempts: 3 });
    await proxy.regular(hang);
    const second = await proxy.regular(answer(200, '{}'));
    const response = await proxy.chat();
    expect(errorOf(await response.text())).toMatchObject({ code: 'upstream_timeout', param: 'total' });
    expect(second.requests).toHaveLength(0);
  });

  it('tries another worker after a first-byte timeout', async () => {
    await start({ firstByteTimeoutMs: 60, retryMaxAttempts: 2 });
    await proxy.regular(hang);
    await proxy.regular(answer(200, '{"ok":1}'));
    expect(await (await proxy.chat()).text()).toBe('{"ok":1}');
    expect(proxy.telemetry.retries).toEqual(['timeout']);
  });

  it('applies to prefill as well', async () => {
    await start({ firstByteTimeoutMs: 60 });
    await proxy.pair(hang, answer(200, '{}'));
    expect(errorOf(await (await proxy.chat()).text())).toMatchObject({ param: 'first_byte' });
    expect(proxy.scheduler.outcomes).toMatchObject([{ phase: 'prefill', fault: 'first_byte_timeout' }]);
  });

  it('does not count a slow answer that keeps coming', async () => {
    await start({ firstByteTimeoutMs: 500, streamIdleTimeoutMs: 500 });
    await proxy.regular((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      let left = 20;
      const timer = setInterval(() => {
        res.write('data: x\n\n');
        left -= 1;
        if (left > 0) return;
        clearInterval(timer);
        res.end();
      }, 40);
    });
    expect(await (await proxy.chat({ stream: true })).text()).toBe('data: x\n\n'.repeat(20));
  });

  it('sends the head after its longest hold and then retries no more', async () => {
    await start({ holdHeadMs: 60, retryMaxAttempts: 3 });
    await proxy.regular((_request, res, req) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.flushHeaders();
      setTimeout(() => req.socket.destroy(), 300);
    });
    const second = await proxy.regular(answer(200, '{}'));
    const response = await proxy.chat({ stream: true });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(second.requests).toHaveLength(0);
  });

  it('waits for gated workers and goes on as soon as one can be chosen', async () => {
    await start({ gateWaitMs: 5000 });
    await proxy.regular(answer(200, '{"ok":1}'));
    proxy.scheduler.onReserve = () => proxy.scheduler.unavailable({ waitable: true });
    const response = proxy.chat();
    await until(() => proxy.scheduler.excluded.length === 1, 'the request waits');
    proxy.scheduler.onReserve = null;
    proxy.scheduler.selectable();
    expect((await response).status).toBe(200);
  });

  it('answers 503 when gated workers do not come in time', async () => {
    await start({ gateWaitMs: 60 });
    proxy.scheduler.onReserve = () => proxy.scheduler.unavailable({ waitable: true });
    const response = await proxy.chat();
    expect([response.status, response.headers.get('x-switchyard-error')]).toEqual([503, 'no_available_workers']);
  });
});
