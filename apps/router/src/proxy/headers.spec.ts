import { ProxyHarness, until } from './testing/proxy-harness.js';
import { type ProxyOptions } from './proxy-options.js';
import { answer, type EngineRequestRecord, prefillAnswer, type ScriptedEngine } from './testing/scripted-engine.js';

describe('headers', () => {
  let proxy: ProxyHarness;

  const start = async (options: Partial<ProxyOptions> = {}) => {
    proxy = await ProxyHarness.start(options);
  };

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  const send = async (engine: ScriptedEngine, headers: string): Promise<EngineRequestRecord> => {
    const client = await proxy.raw(proxy.chatText({}, headers));
    await until(() => client.received.includes('\r\n\r\n'), 'an answer');
    client.socket.destroy();
    return engine.requests.at(-1)!;
  };

  it('keeps end-to-end headers, duplicates and bytes beyond ASCII', async () => {
    await start();
    const engine = await proxy.regular(answer(200, '{}'));
    const { rawHeaders, headers } = await send(engine, 'X-Twice: a\r\nX-Twice: b\r\ntraceparent: 00-1\r\nX-Latin: caf\xe9\r\nX-Forwarded-For: 1.2.3.4\r\n');
    expect(rawHeaders.filter((_value, i) => rawHeaders[i - 1] === 'X-Twice')).toEqual(['a', 'b']);
    expect(headers).toMatchObject({ traceparent: '00-1', 'x-forwarded-for': '1.2.3.4' });
  });

  it('lets none of the hop-by-hop headers cross to the engine, nor those that Connection names', async () => {
    await start();
    const engine = await proxy.regular(answer(200, '{}'));
    const { headers } = await send(
      engine,
      'Connection: close, X-Bar\r\nX-Bar: 1\r\nTE: trailers\r\nProxy-Authorization: secret\r\nUpgrade: h2c\r\nKeep-Alive: timeout=1\r\nCookie: a=1\r\nX-Data-Parallel-Rank: 1\r\nX-Switchyard-Anything: 1\r\n',
    );
    for (const name of ['x-bar', 'te', 'proxy-authorization', 'upgrade', 'keep-alive', 'cookie', 'x-data-parallel-rank', 'x-switchyard-anything']) {
      expect([name, headers[name]]).toEqual([name, undefined]);
    }
    expect(headers.host).toBe(engine.endpoint.slice('http://'.length));
    expect(headers.connection).toBe('keep-alive');
  });

  it('lets none of the engine\'s hop-by-hop headers cross to the client', async () => {
    await start();
    await proxy.regular((_request, res) => {
      res.writeHead(200, ['Content-Type', 'application/json', 'Connection', 'close, X-Foo', 'X-Foo', '1', 'Keep-Alive', 'timeout=1', 'Proxy-Authenticate', 'x', 'Trailer', 'X-Sum', 'Upgrade', 'h2c', 'X-Good', '1', 'Transfer-Encoding', 'chunked']);
      res.write('{"a":');
      res.addTrailers({ 'x-sum': '1' });
      res.end('1}');
    });
    const client = await proxy.raw(proxy.chatText());
    await until(() => client.received.includes('1}'), 'the answer');
    const [head = ''] = client.received.split('\r\n\r\n');
    expect(head).toContain('X-Good: 1');
    expect(head).toMatch(/Connection: keep-alive/i);
    for (const name of ['x-foo', 'proxy-authenticate', 'trailer', 'upgrade', 'timeout=1']) expect(head.toLowerCase()).not.toContain(name);
    expect(client.received).not.toContain('x-sum: 1');
    client.socket.destroy();
  });

  it('forwards the client\'s credentials when nobody checks them here', async () => {
    await start();
    const engine = await proxy.regular(answer(200, '{}'));
    expect((await send(engine, 'Authorization: Bearer client\r\nX-Api-Key: k\r\n')).headers).toMatchObject({ authorization: 'Bearer client', 'x-api-key': 'k' });
    expect((await send(engine, '')).headers.authorization).toBeUndefined();
  });

  it('drops them when they were meant for the router', async () => {
    await start({ clientApiKeys: ['client'] });
    const engine = await proxy.regular(answer(200, '{}'));
    const { headers } = await send(engine, 'Authorization: Bearer client\r\nX-Api-Key: k\r\n');
    expect([headers.authorization, headers['x-api-key']]).toEqual([undefined, undefined]);
  });

  it('replaces them by the engine key on every leg', async () => {
    await start({ engineApiKey: 'engine' });
    const { prefill, decode } = await proxy.pair(answer(200, prefillAnswer), answer(200, '{}'));
    await send(decode, 'Authorization: Bearer client\r\nX-Api-Key: k\r\n');
    for (const { headers } of [...prefill.requests, ...decode.requests]) {
      expect([headers.authorization, headers['x-api-key']]).toEqual(['Bearer engine', undefined]);
    }
  });

  it('asks prefill for a whole, unencoded answer and leaves decode what the client asked for', async () => {
    await start();
    const { prefill, decode } = await proxy.pair(answer(200, prefillAnswer), answer(200, '{}'));
    await send(decode, 'Accept-Encoding: gzip\r\nRange: bytes=0-1\r\nIf-None-Match: "x"\r\n');
    const { headers } = prefill.requests[0]!;
    expect([headers['accept-encoding'], headers.range, headers['if-none-match']]).toEqual(['identity', undefined, undefined]);
    expect(decode.requests[0]!.headers).toMatchObject({ 'accept-encoding': 'gzip', range: 'bytes=0-1', 'if-none-match': '"x"' });
  });

  it.each([
    ['a sane id', 'req_1-Ä'.replace('Ä', 'A'), true],
    ['an id of 10 KB', 'x'.repeat(10_000), false],
    ['a tab', 'a\tb', false],
    ['bytes beyond ASCII', 'caf\xe9', false],
    ['an escape sequence', '\u001b[31m'.replace('\u001b', '%1b ['), false],
    ['nothing', '', false],
  ])('takes over %s from the client only when it is safe', async (_name, id, kept) => {
    await start();
    await proxy.regular(answer(200, '{}'));
    const client = await proxy.raw(proxy.chatText({}, `X-Request-Id: ${id}\r\n`));
    await until(() => client.received.includes('\r\n\r\n'), 'an answer');
    const given = /x-request-id: (.*)\r\n/i.exec(client.received)![1]!;
    if (kept) expect(given).toBe(id);
    else expect(given).toMatch(/^chatcmpl-[0-9a-f]{24}$/);
    await until(() => proxy.logLines.length === 1, 'the log line');
    expect(JSON.parse(proxy.logLines[0]!)).toMatchObject({ requestId: given, status: 200 });
    client.socket.destroy();
  });

  it('names the workers of an answer when asked to', async () => {
    await start({ exposeRouteHeaders: true });
    await proxy.pair(answer(200, prefillAnswer), answer(200, '{}'));
    const { headers } = await proxy.chat();
    expect([headers.get('x-switchyard-prefill'), headers.get('x-switchyard-decode'), headers.get('x-switchyard-reason')]).toEqual(['prefill-1', 'decode-2', 'only_candidate']);
  });

  it('logs neither prompts nor keys', async () => {
    await start({ clientApiKeys: ['key-canary'] });
    await proxy.regular(answer(500, 'engine-canary'));
    const auth = { authorization: 'Bearer key-canary', 'content-type': 'application/json' };
    await proxy.post('/v1/chat/completions', { model: 'm\n{"fake":1}\u001b[31m', messages: [{ role: 'user', content: 'prompt-canary' }] }, { headers: auth });
    await proxy.post('/v1/chat/completions', '{"prompt-canary', { headers: auth });
    await until(() => proxy.logLines.length === 2, 'two log lines');
    for (const line of proxy.logLines) expect(line).not.toMatch(/canary|\\u001b|\\n/);
  });
});
