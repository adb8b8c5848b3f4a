import { ProxyHarness, until } from './testing/proxy-harness.js';
import { answer, type EngineScript } from './testing/scripted-engine.js';

const breaking =
  (parts: readonly string[], how: 'reset' | 'fin', type = 'text/event-stream', more: Record<string, string> = {}): EngineScript =>
  (_request, res, req) => {
    res.writeHead(200, { 'content-type': type, ...more });
    for (const part of parts) res.write(part);
    setTimeout(() => (how === 'reset' ? req.socket.resetAndDestroy() : req.socket.end()), 40);
  };

describe('an answer that breaks after its first byte', () => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start({ streamIdleTimeoutMs: 200 });
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  const receive = async (script: EngineScript) => {
    await proxy.regular(script);
    const second = await proxy.regular(answer(200, '{"second":1}'));
    const client = await proxy.raw(proxy.chatText({ stream: true }));
    await until(() => client.closed, 'the connection ends');
    client.socket.destroy();
    expect(second.requests).toHaveLength(0);
    return client.received;
  };

  const errorEvents = (text: string) => [...text.matchAll(/^data: (\{"error":.*\})\r?$/gm)].map(([, json]) => JSON.parse(json!).error);

  it.each(['reset', 'fin'] as const)('ends a stream with an error event and an abrupt end (%s)', async (how) => {
    const received = await receive(breaking(['data: {"a":1}\n\n'], how));
    expect(received).toContain('data: {"a":1}\n\n');
    expect(errorEvents(received)).toMatchObject([{ code: 'upstream_stream_error', type: 'server_error', param: null }]);
    expect(received).not.toContain('[DONE]');
    expect(received.endsWith('0\r\n\r\n')).toBe(false);
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'failed', status: 200, fault: 'reset' }]);
    expect(proxy.scheduler.closed).toMatchObject([{ status: 200, outcome: 'upstream_stream_error' }]);
  });

  it('ends so too behind another answer on the same connection', async () => {
    let finish = (): void => undefined;
    const engine = await proxy.regular((request, res, req) => {
      if (request.body.includes('second')) {
        void breaking(['data: {"a":1}\n\n'], 'reset')(request, res, req);
        return;
      }
      finish = () => void answer(200, '{"first":1}')(request, res, req);
    });
    const client = await proxy.raw(proxy.chatText() + proxy.chatText({ stream: true, user: 'second' }));
    await until(() => engine.requests.length === 2 && proxy.scheduler.closed.length === 1, 'the second one breaks');
    finish();
    await until(() => client.closed, 'the connection ends');
    client.socket.destroy();
    expect(client.received).toContain('{"first":1}');
    expect(errorEvents(client.received)).toMatchObject([{ code: 'upstream_stream_error' }]);
    expect(client.received.endsWith('0\r\n\r\n')).toBe(false);
  });

  it('closes an event that was cut in the middle before it adds its own', async () => {
    const received = await receive(breaking(['data: {"a":1}\n\n', 'data: {"b"'], 'reset'));
    expect(received).toMatch(/data: \{"b"\r\n[0-9a-f]+\r\n\n\ndata: \{"error":/);
  });

  it('ends a stream that stalls', async () => {
    const received = await receive((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: {"a":1}\n\n');
    });
    expect(errorEvents(received)).toMatchObject([{ code: 'upstream_stream_error', param: 'idle' }]);
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'failed', fault: 'idle_timeout' }]);
    await until(() => proxy.engines[0]!.sockets.size === 0, 'the engine connection closes');
  });

  it('cuts a plain answer short without inventing an end', async () => {
    const received = await receive(breaking(['{"a":1,'], 'reset', 'application/json', { 'content-length': '1000' }));
    expect(received).toContain('{"a":1,');
    expect(received).not.toContain('error');
  });

  it('cuts a plain answer of unknown length so that it is seen to be incomplete', async () => {
    const received = await receive(breaking(['{"a":1,'], 'reset', 'application/json'));
    expect(received).toContain('{"a":1,');
    expect(received.endsWith('0\r\n\r\n')).toBe(false);
  });

  it('relays an error event in the middle of a stream as the engine sent it', async () => {
    const parts = ['data: {"a":1}\n\n', 'data: {"error":{"message":"late"}}\n\n', 'data: [DONE]\n\n'];
    await proxy.regular((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const part of parts) res.write(part);
      res.end();
    });
    expect(await (await proxy.chat({ stream: true })).text()).toBe(parts.join(''));
  });
});
