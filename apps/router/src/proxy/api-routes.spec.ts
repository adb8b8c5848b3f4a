import { errorOf, ProxyHarness, until } from './testing/proxy-harness.js';
import { answer } from './testing/scripted-engine.js';

describe('the API port', () => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start();
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  const get = (path: string, method = 'GET') => fetch(proxy.url + path, { method });

  it('lists every model once, with what engines say of it', async () => {
    proxy.models = [
      { id: 'a', entry: null },
      { id: 'org/b', entry: { id: 'org/b', object: 'model', root: 'r', max_model_len: 10 } },
      { id: 'a', entry: { id: 'a', object: 'model', parent: 'p' } },
      { id: 'a', entry: null },
    ];
    expect(await (await get('/v1/models')).json()).toEqual({
      object: 'list',
      data: [
        { id: 'a', object: 'model', parent: 'p' },
        { id: 'org/b', object: 'model', root: 'r', max_model_len: 10 },
      ],
    });
    for (const path of ['/v1/models/org/b', '/v1/models/org%2Fb']) expect(await (await get(path)).json()).toMatchObject({ id: 'org/b', root: 'r' });
    const unknown = await get('/v1/models/none');
    expect([unknown.status, errorOf(await unknown.text())]).toMatchObject([404, { code: 'model_not_found', param: 'model' }]);
  });

  it('lists nothing while no model is known', async () => {
    expect(await (await get('/v1/models')).json()).toEqual({ object: 'list', data: [] });
  });

  it('tells whether it is alive and whether it could place a request', async () => {
    for (const path of ['/health', '/liveness', '/readiness', '/version']) expect([path, (await get(path)).status]).toEqual([path, 200]);
    proxy.ready = false;
    const readiness = await get('/readiness');
    expect(readiness.status).toBe(503);
    expect(await readiness.json()).toEqual({ status: 'unavailable', prefill: { selectable: 1, total: 1 }, decode: { selectable: 1, total: 1 }, regular: { selectable: 0, total: 0 } });
    expect((await get('/liveness')).status).toBe(200);
  });

  it('answers HEAD like GET, without the body', async () => {
    const head = await get('/v1/models', 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '27', '']);
  });

  it.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/completions', 'POST'],
    ['POST', '/v1/models', 'GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
    ['PUT', '/v1/models/x/y', 'GET, HEAD'],
  ])('answers 405 to %s %s', async (method, path, allow) => {
    const response = await get(path, method);
    expect([response.status, response.headers.get('allow'), response.headers.get('x-switchyard-error')]).toEqual([405, allow, 'method_not_allowed']);
  });

  it.each(['/', '/v1', '/v1/embeddings/x', '/metrics', '/v1/chat/completions/', '/v1/models/'])('answers 404 to %s', async (path) => {
    const response = await fetch(proxy.url + path, { method: 'POST', body: '{"x":', headers: { 'content-type': 'nonsense' } });
    expect([response.status, response.headers.get('x-switchyard-error')]).toEqual([404, 'not_found']);
    expect(response.headers.get('x-request-id')).toMatch(/^req-/);
  });

  it('answers nonsense in the shape of the API', async () => {
    for (const [text, status] of [
      ['NONSENSE\r\n\r\n', 400],
      [`GET /health HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(30_000)}\r\n\r\n`, 431],
      ['GET /v1/models/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
    ] as const) {
      const client = await proxy.raw(text);
      await until(() => client.received.includes('"error"'), 'an answer');
      expect(client.received).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
      expect(client.received).toMatch(/x-switchyard-error: /);
      client.socket.destroy();
    }
  });

  it('names the counts when nothing can be placed', async () => {
    proxy.scheduler.onReserve = () =>
      proxy.scheduler.unavailable({ counts: { prefill: { selectable: 1, total: 2 }, decode: { selectable: 0, total: 3 }, regular: { selectable: 0, total: 0 }, group: 'g' } });
    const response = await proxy.chat();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(errorOf(await response.text())).toEqual({
      message: 'no available workers: prefill 1/2, decode 0/3, regular 0/0 selectable (group g)',
      type: 'server_error',
      param: null,
      code: 'no_available_workers',
    });
  });

  it('answers 404 for a model that nobody serves', async () => {
    proxy.scheduler.onReserve = () => proxy.scheduler.unavailable({ cause: 'model_not_found' });
    const response = await proxy.chat();
    expect([response.status, errorOf(await response.text())]).toMatchObject([404, { code: 'model_not_found', type: 'invalid_request_error', param: 'model' }]);
  });

  it('counts each request once, under its route', async () => {
    await proxy.regular(answer(200, '{}'));
    await (await proxy.chat()).text();
    await (await get('/nowhere')).text();
    await until(() => proxy.telemetry.finished.length === 2, 'both are counted');
    expect(proxy.telemetry.finished).toMatchObject([
      { route: '/v1/chat/completions', model: 'm', status: 200, error: null },
      { route: 'other', model: null, status: 404, error: 'not_found' },
    ]);
    expect(proxy.telemetry.phases).toEqual(['first_byte', 'single']);
  });
});

describe('client keys', () => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start({ clientApiKeys: ['one', 'two'] });
    await proxy.regular(answer(200, '{}'));
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  it.each<Record<string, string>>([{ authorization: 'Bearer one' }, { authorization: 'bearer two' }, { 'x-api-key': 'two' }])('let %j in', async (headers) => {
    expect((await proxy.chat({}, { headers: { ...headers, 'content-type': 'application/json' } })).status).toBe(200);
  });

  it.each<Record<string, string>>([{}, { authorization: 'Bearer three' }, { authorization: 'Basic one' }, { authorization: 'Bearer ' }, { 'x-api-key': 'on' }])('keep %j out', async (headers) => {
    const response = await proxy.chat({}, { headers: { ...headers, 'content-type': 'application/json' } });
    expect([response.status, errorOf(await response.text())]).toMatchObject([401, { type: 'authentication_error', code: 'invalid_api_key' }]);
    expect((await fetch(`${proxy.url}/v1/models`, { headers: headers })).status).toBe(401);
    expect((await fetch(`${proxy.url}/nowhere`, { headers: headers })).status).toBe(401);
  });

  it('are asked for before the body is read', async () => {
    const client = await proxy.raw('POST /v1/completions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\n');
    await until(() => client.received.includes('invalid_api_key'), 'the answer');
    expect(client.received).toMatch(/^HTTP\/1\.1 401 /);
    client.socket.destroy();
  });

  it('are not asked for by probes', async () => {
    for (const path of ['/health', '/liveness', '/readiness', '/version']) expect((await fetch(proxy.url + path)).status).toBe(200);
  });
});
