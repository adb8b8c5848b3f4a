import { Started } from '../support/fleet.js';
import { rawCall, type RawCall } from '../support/raw-http.js';
import { operatorToken, type RouterProcess, viewerToken } from '../support/router-process.js';
import { ScriptedEngine } from '../support/scripted-engine.js';

const clientKey = 'client-key-for-tests';
const json = ['content-type', 'application/json'];

interface Route {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** Every admin route of the contract; WORKER and URL stand for a real worker. */
const reads: readonly Route[] = [
  ...['/api/v1/workers', '/api/v1/workers/WORKER', '/api/v1/workers/WORKER/consequences?action=drain', '/api/v1/drains', '/api/v1/quarantine', '/api/v1/departed', '/api/v1/cache'],
  ...['/api/v1/cache/tree?role=regular', '/api/v1/requests', '/api/v1/requests?state=recent', '/api/v1/events', '/api/v1/overview', '/api/v1/config', '/api/v1/handoffs', '/api/v1/about'],
  ...['/metrics', '/api/openapi.json', '/api/docs'],
].map((path) => ({ method: 'GET', path }));
const mutations: readonly Route[] = [
  { method: 'POST', path: '/api/v1/workers', body: { role: 'decode', url: 'http://127.0.0.1:1' } },
  { method: 'DELETE', path: '/api/v1/workers/WORKER?force=true' },
  { method: 'POST', path: '/api/v1/workers/WORKER/drain', body: { force: true } },
  { method: 'POST', path: '/api/v1/workers/WORKER/undrain', body: {} },
  { method: 'POST', path: '/api/v1/workers/WORKER/evict', body: { reason: 'x', force: true } },
  ...['drain', 'undrain', 'cordon', 'uncordon'].map((verb) => ({
    method: 'POST',
    path: `/api/v1/endpoints/${verb}`,
    body: { endpoint: 'URL', ...(verb.startsWith('un') ? {} : { force: true }) },
  })),
  { method: 'DELETE', path: '/api/v1/quarantine/regular/ENCODED' },
  { method: 'PATCH', path: '/api/v1/config', body: { policy: 'random' } },
];

/** Ways of writing a path that some router or proxy once took for the path but its guard did not. */
function spellings(path: string): string[] {
  const [bare = '', query = ''] = path.split('?');
  const rest = query === '' ? '' : `?${query}`;
  return [
    ...[`${bare}/${rest}`, `/${bare}${rest}`, `//${bare}${rest}`, bare.replace('/', '//') + rest, `/.${bare}${rest}`, `/x/..${bare}${rest}`, `/x/%2e%2e${bare}${rest}`],
    ...[bare.toUpperCase() + rest, `${bare};x=1${rest}`, `${bare}%00${rest}`, `${bare}%20${rest}`, bare.replace('api', '%61pi') + rest, bare.replaceAll('/', '%2f') + rest],
    ...[`${bare}?token=${operatorToken}`, `${bare}?access_token=${operatorToken}`, `${bare}#${rest}`, `${bare}.json${rest}`, `${bare}\\${rest}`],
  ];
}

describe('who may do what', () => {
  const started = new Started();
  let engine: ScriptedEngine;
  let router: RouterProcess;
  let workerId = '';
  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    started.add(engine, (it) => it.stop());
    router = await started.router(['--worker-url', engine.url, '--client-api-key', clientKey, '--client-api-key', 'second-key']);
    const [worker] = await router.admin.selectable({ regular: 1 });
    workerId = worker!.id;
  });
  afterAll(async () => await started.end());

  function callOf({ method, path, body }: Route): RawCall {
    const fill = (text: string): string => text.replaceAll('WORKER', workerId).replaceAll('ENCODED', encodeURIComponent(engine.url)).replaceAll('URL', engine.url);
    return { method, path: fill(path), ...(body === undefined ? {} : { headers: json, body: fill(JSON.stringify(body)) }) };
  }

  const admin = async (call: RawCall, ...headers: readonly string[]) => await rawCall(router.adminAddress, { ...call, headers: [...(call.headers ?? []), ...headers] });

  async function state(): Promise<unknown> {
    return {
      workers: (await router.admin.workers()).map(({ id, adminState, processed }) => [id, adminState, processed]),
      drains: (await router.admin.get('/api/v1/drains')).items,
      quarantine: (await router.admin.get('/api/v1/quarantine')).items,
      policy: ((await router.admin.get('/api/v1/config')).items as { name: string; value: unknown }[]).find(({ name }) => name === 'policy')?.value,
      calls: engine.inference().length,
    };
  }

  it('every admin route of the API description is in the lists of this test', async () => {
    const { paths } = (await router.admin.get('/api/openapi.json')) as { paths: Record<string, Record<string, unknown>> };
    const described = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{[^}]+\}/g, '*')}`));
    const listed = [...reads, ...mutations, ...['POST', 'GET', 'DELETE'].map((method) => ({ method, path: '/api/v1/session' })), { method: 'GET', path: '/api/v1/requests/*' }].map(
      ({ method, path }) => `${method} ${path.split('?')[0]!.replace('WORKER', '*').replace('regular/ENCODED', '*/*')}`,
    );
    expect(described.filter((route) => !listed.includes(route))).toEqual([]);
    expect(described.length).toBeGreaterThan(15);
  });

  it.each<[string, readonly string[]]>([
    ['no token', []],
    ['a wrong one', ['authorization', 'Bearer wrong']],
    ['an empty one', ['authorization', 'Bearer ']],
    ['a prefix of it', ['authorization', `Bearer ${operatorToken.slice(0, -1)}`]],
    ['it and more', ['authorization', `Bearer ${operatorToken}x`]],
    ['it without a scheme', ['authorization', operatorToken]],
    ['it as Basic', ['authorization', `Basic ${Buffer.from(`admin:${operatorToken}`).toString('base64')}`]],
    ["a client's key", ['authorization', `Bearer ${clientKey}`]],
    ['it as another header', ['x-api-key', operatorToken]],
    ['a made-up cookie', ['cookie', `session=${operatorToken}; token=${operatorToken}; switchyard_session=${operatorToken}`]],
  ])('%s opens no admin route, whatever its method, and changes nothing', async (_name, headers) => {
    const before = await state();
    for (const route of [...reads, ...mutations]) {
      const call = callOf(route);
      const answer = await admin(call, ...headers);
      expect([route.method, call.path, answer.status]).toEqual([route.method, call.path, 401]);
      expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'unauthorized', message: expect.any(String) } });
      for (const method of ['HEAD', 'OPTIONS', 'PUT', 'TRACE']) {
        const other = await admin({ method, path: call.path }, ...headers);
        expect([method, call.path, other.status >= 400 && other.status < 500]).toEqual([method, call.path, true]);
      }
    }
    expect(await state()).toEqual(before);
  });

  it('no spelling of a path, rewriting header or repeated header gets past the guard', async () => {
    const before = await state();
    for (const route of [...reads.slice(0, 3), ...reads.slice(-3), ...mutations]) {
      const call = callOf(route);
      for (const path of spellings(call.path)) {
        const answer = await admin({ ...call, path });
        expect([route.method, path, [400, 401, 404].includes(answer.status)]).toEqual([route.method, path, true]);
      }
      for (const headers of [
        ['x-original-url', '/api/v1/session'],
        ['x-rewrite-url', '/api/v1/session'],
        ['x-forwarded-prefix', '/api/v1/session'],
        ['x-http-method-override', 'GET'],
        ['x-forwarded-for', '127.0.0.1'],
        ['authorization', 'Bearer wrong', 'authorization', `Bearer ${operatorToken}`],
        ['proxy-authorization', `Bearer ${operatorToken}`],
      ]) {
        const answer = await admin(call, ...headers);
        expect([route.method, headers, [400, 401].includes(answer.status)]).toEqual([route.method, headers, true]);
      }
    }
    expect(await state()).toEqual(before);
  });

  it('a viewer reads everything and changes nothing: 403 before anything else', async () => {
    const before = await state();
    const viewer = ['authorization', `Bearer ${viewerToken}`];
    for (const route of reads) expect([route.path, (await admin(callOf(route), ...viewer)).status]).toEqual([route.path, 200]);
    for (const route of mutations) {
      const answer = await admin(callOf(route), ...viewer);
      expect([route.method, route.path, answer.status, (JSON.parse(answer.body) as { error: { code: string } }).error.code]).toEqual([route.method, route.path, 403, 'forbidden']);
      // Neither does a body nobody could use tell more than that.
      expect([route.path, (await admin({ method: route.method, path: callOf(route).path, headers: json, body: '{"' }, ...viewer)).status]).toEqual([route.path, 403]);
    }
    expect(await state()).toEqual(before);
  });

  it('the scheme is read in any case; an operator opens every route', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await admin({ path: '/api/v1/workers' }, 'authorization', `${scheme} ${operatorToken}`)).status).toBe(200);
    }
    for (const route of reads) expect([route.path, (await admin(callOf(route), 'authorization', `Bearer ${operatorToken}`)).status]).toEqual([route.path, 200]);
  });

  it('a session: HttpOnly and SameSite=Strict cookie, the role of its token, gone after logging out', async () => {
    for (const [token, role] of [
      [operatorToken, 'operator'],
      [viewerToken, 'viewer'],
    ] as const) {
      const login = await admin({ method: 'POST', path: '/api/v1/session', headers: json, body: JSON.stringify({ token }) });
      expect([login.status, JSON.parse(login.body)]).toEqual([200, { role }]);
      const [set = ''] = [login.headers['set-cookie'] ?? ''].flat();
      expect(set).toMatch(/HttpOnly/i);
      expect(set).toMatch(/SameSite=Strict/i);
      expect(set).not.toContain(token);
      const cookie = ['cookie', set.split(';')[0]!];
      expect(JSON.parse((await admin({ path: '/api/v1/session' }, ...cookie)).body)).toEqual({ role });
      expect((await admin({ path: '/api/v1/workers' }, ...cookie)).status).toBe(200);
      expect((await admin(callOf(mutations[3]!), ...cookie)).status).toBe(role === 'operator' ? 200 : 403);
      expect((await admin({ method: 'DELETE', path: '/api/v1/session' }, ...cookie)).status).toBeLessThan(300);
      expect((await admin({ path: '/api/v1/workers' }, ...cookie)).status).toBe(401);
    }
    expect((await admin({ path: '/api/v1/session' })).status).toBe(401);
  });

  it("the API port takes each client key, no operator's token, and tells nothing without one", async () => {
    const before = engine.inference().length;
    const body = JSON.stringify({ model: 'm', prompt: 'x' });
    const api = async (call: RawCall, ...headers: readonly string[]) => await rawCall(router.api, { ...call, headers: [...(call.headers ?? []), ...headers] });
    const refused: readonly (readonly string[])[] = [
      [],
      ['authorization', 'Bearer '],
      ['authorization', `Bearer ${clientKey.slice(0, -1)}`],
      ['authorization', `Bearer ${clientKey}x`],
      ['authorization', `Bearer ${operatorToken}`],
      ['authorization', clientKey],
      ['authorization', 'Bearer wrong', 'authorization', `Bearer ${clientKey}`],
    ];
    const guarded: readonly RawCall[] = [
      ...['/v1/completions', '/v1/chat/completions'].map((path) => ({ method: 'POST', path, headers: json, body })),
      ...['/v1/models', '/v1/models/m', '/nothing', '/metrics', '/api/v1/workers'].map((path) => ({ method: 'GET', path })),
    ];
    for (const headers of refused) {
      for (const call of guarded) {
        const answer = await api(call, ...headers);
        expect([call.path, headers, answer.status, answer.headers['x-switchyard-error']]).toEqual([call.path, headers, 401, 'invalid_api_key']);
        expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'authentication_error', code: 'invalid_api_key' } });
      }
    }
    for (const path of spellings('/v1/completions')) {
      const answer = await api({ method: 'POST', path, headers: json, body });
      expect([path, [400, 401, 404].includes(answer.status)]).toEqual([path, true]);
    }
    expect(engine.inference()).toHaveLength(before);

    for (const path of ['/health', '/liveness', '/readiness', '/version']) expect([path, (await api({ path })).status]).toEqual([path, 200]);
    for (const headers of [
      ['authorization', `Bearer ${clientKey}`],
      ['authorization', 'bearer second-key'],
      ['x-api-key', clientKey],
    ]) {
      for (const call of guarded.slice(0, 4)) expect([call.path, (await api(call, ...headers)).status]).toEqual([call.path, 200]);
    }
    // The key was for the router: engines do not get it.
    expect(engine.inference().slice(before).every(({ headers }) => headers.authorization === undefined && headers['x-api-key'] === undefined)).toBe(true);
  });

  it('--open-metrics opens /metrics and nothing else', async () => {
    const open = await started.router(['--open-metrics']);
    const get = async (path: string): Promise<number> => (await rawCall(open.adminAddress, { path })).status;
    expect([await get('/metrics'), await get('/api/v1/workers'), await get('/metrics/'), await get('/api/openapi.json')].map((status) => status === 200)).toEqual([true, false, false, false]);
    expect((await admin({ path: '/metrics' })).status).toBe(401);
  });
});
