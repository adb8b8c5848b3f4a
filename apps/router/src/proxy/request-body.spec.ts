import { errorOf, ProxyHarness, type RawClient, until } from './testing/proxy-harness.js';
import { answer, type ScriptedEngine } from './testing/scripted-engine.js';

describe('a request body', () => {
  let proxy: ProxyHarness;
  let engine: ScriptedEngine;

  beforeEach(async () => {
    proxy = await ProxyHarness.start({ maxBodyBytes: 100_000, uploadGraceMs: 100 });
    engine = await proxy.regular(answer(200, '{"ok":1}'));
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  const statusOf = ({ received }: RawClient) => Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 0);
  const json = { 'content-type': 'application/json' };

  it.each([
    ['broken JSON', '{"model":', 'invalid_json'],
    ['nothing', '', 'invalid_json'],
    ['an array', '[]', 'invalid_request'],
    ['a text in Latin-1', Buffer.from('{"model":"caf\xe9"}', 'latin1'), 'invalid_request'],
    ['a text in UTF-16', Buffer.from('\ufeff{"model":"m"}', 'utf16le'), 'invalid_request'],
  ])('is refused when it is %s', async (_name, body, code) => {
    const response = await fetch(`${proxy.url}/v1/chat/completions`, { method: 'POST', body, headers: json });
    expect([response.status, response.headers.get('x-switchyard-error')]).toEqual([400, code]);
    expect(errorOf(await response.text())).toMatchObject({ type: 'invalid_request_error', code });
    expect(engine.requests).toHaveLength(0);
  });

  it('may begin with a byte order mark and hold NaN', async () => {
    const body = '\ufeff{"model":"m","x":NaN,"y":-Infinity}';
    expect((await proxy.post('/v1/completions', body)).status).toBe(200);
    expect(engine.requests[0]!.bytes.equals(Buffer.from(body))).toBe(true);
  });

  it.each([
    ['another content type', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['an encoded body', { ...json, 'content-encoding': 'gzip' }],
  ])('is refused with 415 as %s', async (_name, headers) => {
    const response = await proxy.post('/v1/chat/completions', '{}', { headers });
    expect([response.status, response.headers.get('x-switchyard-error')]).toEqual([415, 'unsupported_media_type']);
  });

  it.each([{ 'content-type': 'application/json; charset=utf-8' }, { 'content-type': 'application/vnd.api+json' }, { ...json, 'content-encoding': 'identity' }])(
    'is taken with %j',
    async (headers) => {
      expect((await proxy.post('/v1/chat/completions', '{}', { headers })).status).toBe(200);
    },
  );

  it('reaches the engine whole for every size and way of writing', async () => {
    for (const size of [1000, 6300, 16_384, 65_535, 65_537, 99_000]) {
      const body = JSON.stringify({ model: 'm', prompt: 'é'.repeat(size / 2 - 20) });
      const client = await proxy.raw(`POST /v1/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`);
      const bytes = Buffer.from(body);
      for (let at = 0; at < bytes.length; at += 1013) {
        const piece = bytes.subarray(at, at + 1013);
        client.socket.write(`${piece.length.toString(16)}\r\n`);
        client.socket.write(piece);
        client.socket.write('\r\n');
      }
      client.socket.write('0\r\n\r\n');
      await until(() => client.received.includes('{"ok":1}'), 'the answer');
      expect(engine.requests.at(-1)!.body).toBe(body);
      client.socket.destroy();
    }
  });

  it('of exactly the limit is taken, of one byte more refused', async () => {
    const body = (size: number) => `{"p":"${'x'.repeat(size - 8)}"}`;
    expect((await proxy.post('/v1/completions', body(100_000))).status).toBe(200);
    const response = await proxy.post('/v1/completions', body(100_001));
    expect([response.status, response.headers.get('connection')]).toEqual([413, 'close']);
    expect(errorOf(await response.text()).code).toBe('body_too_large');
  });

  it('over the limit is answered while it is still coming, without a reset', async () => {
    const client = await proxy.raw('POST /v1/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    let ended = false;
    client.socket.on('error', () => (ended = true));
    const chunk = `2710\r\n${'x'.repeat(10_000)}\r\n`;
    for (let i = 0; i < 30; i++) client.socket.write(chunk);
    await until(() => client.received.includes('body_too_large'), 'the answer');
    expect(statusOf(client)).toBe(413);
    for (let i = 0; i < 30; i++) client.socket.write(chunk);
    client.socket.write('0\r\n\r\n');
    await until(() => client.closed, 'the connection closes');
    expect(ended).toBe(false);
  });

  it('over the limit is not asked for when the client waits for 100 Continue', async () => {
    const client = await proxy.raw('POST /v1/completions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 200000\r\n\r\n');
    await until(() => client.received.includes('body_too_large'), 'the answer');
    expect(statusOf(client)).toBe(413);
    await until(() => client.closed, 'the connection closes');
    client.socket.destroy();
  });

  it('over the limit is read past also when it was asked for', async () => {
    const client = await proxy.raw('POST /v1/completions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n');
    await until(() => client.received.startsWith('HTTP/1.1 100 Continue'), 'the go-ahead');
    const broken = new Promise<boolean>((resolve) => client.socket.once('close', resolve));
    const chunk = `2710\r\n${'x'.repeat(10_000)}\r\n`;
    for (let i = 0; i < 30; i++) client.socket.write(chunk);
    await until(() => client.received.includes('body_too_large'), 'the answer');
    for (let i = 0; i < 300; i++) client.socket.write(chunk);
    client.socket.end('0\r\n\r\n');
    expect(await broken).toBe(false);
  });

  it.each([
    ['a chunk size that is no number', 'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n'],
    ['a transfer coding that is none', 'transfer-encoding: xchunked\r\n\r\n{}'],
    ['endless trailers', `transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n${`x: ${'x'.repeat(10_000)}\r\n`.repeat(3)}`],
  ])('is refused when it has %s', async (_name, text) => {
    const client = await proxy.raw(`POST /v1/completions HTTP/1.1\r\nhost: x\r\n${text}`);
    await until(() => client.received.includes('"error"'), 'the answer');
    expect(client.received).toMatch(/^HTTP\/1\.1 4(?:00|31) /);
    expect(client.received).toMatch(/x-switchyard-error: (?:invalid_request|headers_too_large)\r\n/);
    await until(() => client.closed, 'the connection closes');
    client.socket.destroy();
    await until(() => proxy.telemetry.finished.length === 1, 'it is counted');
    expect(proxy.telemetry.finished[0]).toMatchObject({ status: statusOf(client), error: expect.any(String) });
    expect(engine.requests).toHaveLength(0);
  });

  it('is asked for when it fits', async () => {
    const client = await proxy.raw('POST /v1/completions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n');
    await until(() => client.received.startsWith('HTTP/1.1 100 Continue'), 'the go-ahead');
    client.socket.write('{}');
    await until(() => client.received.includes('{"ok":1}'), 'the answer');
    expect(engine.requests[0]!.headers.expect).toBeUndefined();
    client.socket.destroy();
  });

  it('that comes too slowly is answered 408', async () => {
    const client = await proxy.raw('POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{');
    await until(() => client.received.includes('request_timeout'), 'the answer');
    expect(statusOf(client)).toBe(408);
    await until(() => client.closed, 'the connection closes');
    client.socket.destroy();
  });
});
