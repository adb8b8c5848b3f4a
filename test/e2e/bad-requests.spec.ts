import { randomUUID } from 'node:crypto';

import { Started } from '../support/fleet.js';
import { rawCall } from '../support/raw-http.js';
import { type RouterProcess } from '../support/router-process.js';
import { ScriptedEngine } from '../support/scripted-engine.js';

const json = ['content-type', 'application/json'];

describe('requests that cannot be used', () => {
  const started = new Started();
  let engine: ScriptedEngine;
  let router: RouterProcess;
  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    started.add(engine, (it) => it.stop());
    router = await started.router(['--worker-url', engine.url, '--max-body-bytes', '100000']);
    await router.admin.selectable({ regular: 1 });
  });
  afterAll(async () => await started.end());

  const whole = { model: 'm', prompt: 'x' };

  it.each<[string, number, string, string | Uint8Array, readonly string[]]>([
    ['no body', 400, 'invalid_json', '', json],
    ['half a body', 400, 'invalid_json', '{"model":"m","prompt":', json],
    ['text', 400, 'invalid_json', 'hello', json],
    ['two values', 400, 'invalid_json', '{} {}', json],
    ['a trailing comma', 400, 'invalid_json', '{"model":"m",}', json],
    ['single quotes', 400, 'invalid_json', "{'model':'m'}", json],
    ['a raw line break in a string', 400, 'invalid_json', '{"prompt":"a\nb"}', json],
    ['a bad escape', 400, 'invalid_json', String.raw`{"prompt":"\x"}`, json],
    ['a leading zero', 400, 'invalid_json', '{"max_tokens":01}', json],
    ['bytes that are not UTF-8', 400, 'invalid_request', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]), json],
    ['an array', 400, 'invalid_request', '[]', json],
    ['a string', 400, 'invalid_request', '"x"', json],
    ['null', 400, 'invalid_request', 'null', json],
    ['UTF-16', 400, 'invalid_request', Buffer.from('\ufeff{"model":"m"}', 'utf16le'), json],
    ['a nest that never closes', 400, 'invalid_json', `{"a":${'['.repeat(50_000)}`, json],
    ['another media type', 415, 'unsupported_media_type', JSON.stringify(whole), ['content-type', 'text/plain']],
    ['a form', 415, 'unsupported_media_type', 'model=m', ['content-type', 'application/x-www-form-urlencoded']],
    ['a compressed body', 415, 'unsupported_media_type', JSON.stringify(whole), [...json, 'content-encoding', 'gzip']],
    ['too much', 413, 'body_too_large', JSON.stringify({ ...whole, prompt: 'x'.repeat(100_000) }), json],
  ])('%s: %d %s, and no engine is called', async (_name, status, code, body, headers) => {
    const before = engine.inference().length;
    const id = randomUUID();
    const answer = await rawCall(router.api, { method: 'POST', path: '/v1/completions', headers: [...headers, 'x-request-id', id], body });
    expect([answer.status, answer.headers['x-switchyard-error'], answer.headers['x-request-id']]).toEqual([status, code, id]);
    const { error } = JSON.parse(answer.body) as { error: Record<string, unknown> };
    expect(error).toMatchObject({ code, type: 'invalid_request_error', message: expect.any(String) });
    expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
    expect(engine.inference()).toHaveLength(before);
  });

  it('invalid JSON names the offset', async () => {
    const answer = await rawCall(router.api, { method: 'POST', path: '/v1/completions', headers: json, body: '{"model":"m","prompt":?}' });
    expect((JSON.parse(answer.body) as { error: { message: string } }).error.message).toMatch(/\b22\b/);
  });

  it.each([
    ['a nest of 20,000', `{"model":"m","prompt":"x","extra":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['NaN and infinities', '{"model":"m","prompt":"x","temperature":NaN,"a":[Infinity,-Infinity]}'],
    ['a byte order mark', '\ufeff{"model":"m","prompt":"x"}'],
    ['64-bit integers and odd spellings', '{"seed":18446744073709551615, "model":"\\u006d","prompt":"x","top_p":1.0,"z":1e400,"\\u006dodel2":null}'],
  ])('%s reach the engine byte for byte', async (_name, body) => {
    const before = engine.inference().length;
    const answer = await rawCall(router.api, { method: 'POST', path: '/v1/completions', headers: json, body });
    expect([answer.status, engine.inference().length]).toEqual([200, before + 1]);
    expect(engine.inference().at(-1)!.body).toBe(body);
  });

  it('unknown paths and methods have their own codes, and Allow', async () => {
    for (const [method, path, status, code] of [
      ['GET', '/nothing', 404, 'not_found'],
      ['POST', '/v1/nothing', 404, 'not_found'],
      ['GET', '/v1/completions', 405, 'method_not_allowed'],
      ['DELETE', '/v1/chat/completions', 405, 'method_not_allowed'],
      ['POST', '/v1/models', 405, 'method_not_allowed'],
      ['PUT', '/health', 405, 'method_not_allowed'],
      ['POST', '/pause', 404, 'not_found'],
      ['POST', '/v1/load_lora_adapter', 404, 'not_found'],
    ] as const) {
      const answer = await rawCall(router.api, { method, path, ...(method === 'POST' ? { headers: json, body: '{}' } : {}) });
      expect([method, path, answer.status, answer.headers['x-switchyard-error']]).toEqual([method, path, status, code]);
      expect(answer.headers['allow'] !== undefined).toBe(status === 405);
    }
  });

  it('x-request-id: a sane one is kept, others are replaced', async () => {
    for (const [given, kept] of [
      ['abc-123', true],
      ['x'.repeat(128), true],
      ['x'.repeat(129), false],
      ['a b', false],
      ['', false],
    ] as const) {
      const answer = await rawCall(router.api, { method: 'POST', path: '/v1/completions', headers: [...json, 'x-request-id', given], body: JSON.stringify(whole) });
      expect(answer.status).toBe(200);
      if (kept) expect(answer.headers['x-request-id']).toBe(given);
      else expect(answer.headers['x-request-id']).toMatch(/^cmpl-[0-9a-f]{24}$/);
    }
  });

  it('admin bodies: the status, a code, and a message that names the field; nothing changes', async () => {
    const before = await router.admin.workers();
    const id = before[0]!.id;
    const unknown = '/api/v1/workers/decode-999999';
    const cases: readonly (readonly [method: string, path: string, body: unknown, status: number, code: string, named: string])[] = [
      ['POST', '/api/v1/workers', { url: 'http://127.0.0.1:1' }, 400, 'invalid_request', 'role'],
      ['POST', '/api/v1/workers', { role: 'both', url: 'http://127.0.0.1:1' }, 400, 'invalid_request', 'role'],
      ['POST', '/api/v1/workers', { role: 'decode' }, 400, 'invalid_request', 'url'],
      ['POST', '/api/v1/workers', { role: 'decode', url: 'nonsense' }, 400, 'invalid_request', 'url'],
      ['POST', '/api/v1/workers', { role: 'decode', url: 'http://127.0.0.1:1/v1' }, 400, 'invalid_request', 'url'],
      ['POST', '/api/v1/workers', { role: 'decode', url: 'http://127.0.0.1:1', colour: 1 }, 400, 'invalid_request', 'colour'],
      ['POST', '/api/v1/workers', { role: 'decode', url: 'http://127.0.0.1:1', models: [] }, 400, 'invalid_request', 'models'],
      ['POST', '/api/v1/workers', [], 400, 'invalid_request', ''],
      ['POST', `/api/v1/workers/${id}/drain`, { deadlineSecs: -1 }, 400, 'invalid_request', 'deadlineSecs'],
      ['POST', `/api/v1/workers/${id}/drain`, { until: 'later' }, 400, 'invalid_request', 'until'],
      ['POST', `/api/v1/workers/${id}/drain`, { force: 'yes' }, 400, 'invalid_request', 'force'],
      ['POST', `/api/v1/workers/${id}/drain`, { forse: true }, 400, 'invalid_request', 'forse'],
      ['POST', `/api/v1/workers/${id}/drain?waitSecs=long`, {}, 400, 'invalid_request', 'waitSecs'],
      ['POST', `/api/v1/workers/${id}/drain`, { ifGeneration: 1 }, 409, 'generation_changed', ''],
      ['POST', `/api/v1/workers/${id}/evict`, {}, 400, 'invalid_request', 'reason'],
      ['POST', `/api/v1/workers/${id}/evict`, { reason: 'x', quarantineSecs: 1e9 }, 400, 'invalid_request', 'quarantineSecs'],
      ['POST', `/api/v1/workers/${id}/evict`, { reason: 'x', quarantineSecs: -2 }, 400, 'invalid_request', 'quarantineSecs'],
      ['POST', `${unknown}/drain`, {}, 404, 'unknown_worker', ''],
      ['POST', `${unknown}/evict`, { reason: 'x' }, 404, 'unknown_worker', ''],
      ['DELETE', unknown, undefined, 404, 'unknown_worker', ''],
      ['GET', unknown, undefined, 404, 'unknown_worker', ''],
      ['GET', '/api/v1/workers/nonsense', undefined, 404, 'unknown_worker', ''],
      ['POST', '/api/v1/endpoints/drain', {}, 400, 'invalid_request', 'endpoint'],
      ['POST', '/api/v1/endpoints/drain', { endpoint: 'nonsense' }, 400, 'invalid_request', 'endpoint'],
      ['POST', '/api/v1/endpoints/drain', { endpoint: 'http://127.0.0.1:1' }, 404, 'unknown_endpoint', ''],
      ['POST', '/api/v1/endpoints/cordon', { endpoint: 'http://127.0.0.1:1' }, 404, 'unknown_endpoint', ''],
      ['DELETE', `/api/v1/quarantine/decode/${encodeURIComponent('http://127.0.0.1:1')}`, undefined, 404, 'not_found', ''],
      ['GET', '/api/v1/requests/unknown', undefined, 404, 'unknown_request', ''],
      ['GET', '/api/v1/requests?limit=-1', undefined, 400, 'invalid_request', 'limit'],
      ['GET', '/api/v1/requests?state=gone', undefined, 400, 'invalid_request', 'state'],
      ['GET', '/api/v1/events?type=party', undefined, 400, 'invalid_request', 'type'],
      ['GET', '/api/v1/events?after=x', undefined, 400, 'invalid_request', 'after'],
      ['PATCH', '/api/v1/config', { policy: 'cheapest' }, 400, 'invalid_request', 'policy'],
      ['PATCH', '/api/v1/config', { port: 1 }, 400, 'invalid_request', 'port'],
      ['PATCH', '/api/v1/config', { 'cache-threshold': 2 }, 400, 'invalid_request', 'cache-threshold'],
      ['POST', '/api/v1/session', {}, 400, 'invalid_request', 'token'],
      ['POST', '/api/v1/session', { token: 'wrong' }, 401, 'unauthorized', ''],
      ['GET', '/api/v1/nothing', undefined, 404, 'not_found', ''],
    ];
    for (const [method, path, body, status, code, named] of cases) {
      const { status: got, json: answer } = await router.admin.call(method, path, body);
      expect([method, path, body, got, answer?.error?.code]).toEqual([method, path, body, status, code]);
      expect([method, path, body, JSON.stringify(answer.error)]).toEqual([method, path, body, expect.stringContaining(named)]);
    }
    const admin = router.adminAddress;
    const auth = ['authorization', `Bearer ${router.admin.token}`];
    for (const [body, headers, status, code] of [
      ['{"reason":', json, 400, 'invalid_json'],
      ['reason=x', ['content-type', 'application/x-www-form-urlencoded'], 415, 'unsupported_media_type'],
      [`{"reason":"${'x'.repeat(2_000_000)}"}`, json, 413, 'body_too_large'],
    ] as const) {
      const answer = await rawCall(admin, { method: 'POST', path: `/api/v1/workers/${id}/drain`, headers: [...auth, ...headers], body });
      expect([answer.status, (JSON.parse(answer.body) as { error: { code: string } }).error.code]).toEqual([status, code]);
    }
    expect((await router.admin.workers()).map(({ id: each, adminState }) => [each, adminState])).toEqual(before.map(({ id: each }) => [each, 'ready']));
    expect((await router.admin.get('/api/v1/drains')).items).toEqual([]);
    expect((await router.post('/v1/completions', whole)).status).toBe(200);
  });
});
