import { ProxyHarness, until } from './testing/proxy-harness.js';
import { answer, events, prefillAnswer } from './testing/scripted-engine.js';

describe('a request over a pair', () => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start();
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  it('prefills one token, hands the params over byte for byte and relays decode', async () => {
    const { prefill, decode } = await proxy.pair(answer(200, prefillAnswer), events('data: {"a":1}\n\n', 'data: [DONE]\n\n'));
    const body = '{"model":"m","messages":[],"max_tokens":50,"stream":true,"stream_options":{"include_usage":true},"min_tokens":5,"seed":9007199254740993}';
    const response = await proxy.post('/v1/chat/completions', body);
    expect(await response.text()).toBe('data: {"a":1}\n\ndata: [DONE]\n\n');
    const toPrefill = JSON.parse(prefill.requests[0]!.body);
    expect(toPrefill).toMatchObject({ max_tokens: 1, stream: false, kv_transfer_params: { do_remote_decode: true } });
    expect(toPrefill.stream_options).toBeUndefined();
    expect(prefill.requests[0]!.body).toContain('"seed":9007199254740993');
    expect(decode.requests[0]!.body).toBe(
      body.replace(/}$/, ',"kv_transfer_params":{"do_remote_prefill":true,"remote_engine_id":"e1","remote_block_ids":[18446744073709551615]}}'),
    );
    expect(proxy.scheduler.handoffs).toEqual([{ connector: 'nixl', engineId: 'e1' }]);
    expect(proxy.scheduler.outcomes).toMatchObject([{ phase: 'decode', result: 'succeeded', status: 200 }]);
    expect(proxy.scheduler.outcomes[0]!.timings.prefillMs).toBeGreaterThan(0);
    expect(proxy.scheduler.firstBytes).toEqual(['decode']);
  });

  it('gives each leg a length of its own, for texts of several bytes a character and for large ones', async () => {
    const { prefill, decode } = await proxy.pair(answer(200, prefillAnswer), answer(200, '{}'));
    for (const content of ['北京🌍é', 'x'.repeat(200_000)]) {
      expect((await proxy.chat({ messages: [{ role: 'user', content }] })).status).toBe(200);
    }
    for (const { headers, bytes, body } of [...prefill.requests, ...decode.requests]) {
      expect(headers['content-length']).toBe(String(bytes.length));
      expect(headers['transfer-encoding']).toBeUndefined();
      expect(JSON.parse(body).messages).toHaveLength(1);
    }
    expect(JSON.parse(decode.requests[1]!.body).messages[0].content).toHaveLength(200_000);
  });

  it('names both legs alike after the client where engines read nothing out of the name', async () => {
    const { prefill, decode } = await proxy.pair(answer(200, prefillAnswer), answer(200, '{}'));
    await proxy.chat({}, { headers: { 'content-type': 'application/json', 'x-request-id': 'mine' } });
    const id = prefill.requests[0]!.headers['x-request-id'];
    expect(id).toMatch(/^mine-[0-9a-f]{8}$/);
    expect(decode.requests[0]!.headers['x-request-id']).toBe(id);
  });

  it('names both addresses in the id of both legs for P2P NCCL, anew each time', async () => {
    const { prefill, decode } = await proxy.pair(answer(200, '{"choices":[]}'), answer(200, '{}'), 'p2p-nccl');
    for (let i = 0; i < 2; i++) await (await proxy.chat()).text();
    const ids = prefill.requests.map(({ headers }) => headers['x-request-id']);
    for (const id of ids) expect(id).toMatch(/^___prefill_addr_10\.0\.0\.1:21001___decode_addr_10\.0\.0\.2:22001_[0-9a-f]{32}$/);
    expect(new Set(ids).size).toBe(2);
    expect(decode.requests.map(({ headers }) => headers['x-request-id'])).toEqual(ids);
  });

  it('sends decode nothing before the prefill answer is complete', async () => {
    let finish: () => void = () => undefined;
    const { decode } = await proxy.pair((_request, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write(prefillAnswer.slice(0, 20));
      finish = () => res.end(prefillAnswer.slice(20));
    }, answer(200, '{"ok":1}'));
    const response = proxy.chat();
    await until(() => proxy.scheduler.live.size === 1, 'the grant begins');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(decode.connections).toBe(0);
    finish();
    expect(await (await response).text()).toBe('{"ok":1}');
  });

  it.each([400, 401, 404, 408, 409, 413, 422])('relays a prefill %s at once, with its body and Retry-After', async (status) => {
    const { prefill, decode } = await proxy.pair(answer(status, '{"error":{"message":"engine"}}', { 'retry-after': '7' }), answer(200, '{}'));
    const response = await proxy.chat({ stream: true });
    expect([response.status, await response.text(), response.headers.get('retry-after')]).toEqual([status, '{"error":{"message":"engine"}}', '7']);
    expect([prefill.requests.length, decode.requests.length]).toEqual([1, 0]);
    expect(proxy.scheduler.outcomes).toMatchObject([{ phase: 'prefill', result: 'failed', status }]);
  });

  it.each([
    ['a redirect', answer(307, '', { location: 'http://elsewhere.test/' })],
    ['a body that is not JSON', answer(200, '{"id":')],
    ['an error object with status 200', answer(200, '{"error":{"message":"no"}}')],
  ])('never calls decode after %s from prefill', async (_name, script) => {
    const { decode } = await proxy.pair(script, answer(200, '{}'));
    const response = await proxy.chat();
    expect(response.status).toBe(502);
    expect(response.headers.get('x-switchyard-error')).toBe('upstream_invalid_response');
    expect(decode.requests).toHaveLength(0);
  });

  it('relays a decode 4xx with its body', async () => {
    await proxy.pair(answer(200, prefillAnswer), answer(400, '{"error":{"message":"too long"}}'));
    const response = await proxy.chat({ stream: true });
    expect([response.status, await response.text()]).toEqual([400, '{"error":{"message":"too long"}}']);
    expect(proxy.scheduler.firstBytes).toEqual([]);
  });

  it('does not follow a redirect of decode', async () => {
    await proxy.pair(answer(200, prefillAnswer), answer(307, '', { location: 'http://elsewhere.test/' }));
    const response = await proxy.chat({}, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([307, 'http://elsewhere.test/']);
  });
});
