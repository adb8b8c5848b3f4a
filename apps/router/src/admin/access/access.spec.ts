import { connect } from 'node:net';

import { jest } from '@jest/globals';

import { MemoryStore } from '../../store/memory.store.js';
import { AdminHarness, operatorToken, viewerToken } from '../testing/admin-harness.js';

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** Status line and body of a request written byte for byte: fetch would tidy it up. */
function raw(origin: string, lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.end([...lines, 'Host: x', 'Connection: close', '', ''].join('\r\n')));
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}

describe('access to the admin port', () => {
  let admin: AdminHarness;
  let worker: string;
  beforeAll(async () => {
    admin = await AdminHarness.start();
    worker = admin.register('decode', 'http://10.0.0.2:8000');
  });
  afterAll(() => admin.close());

  const untouched = (): void => {
    const { adminState, departure } = admin.cluster.fleet.byId(worker)!;
    expect([adminState, departure]).toEqual(['ready', null]);
  };

  /** Every route the listener has, the log-in page and the session apart, with something for its parameters. */
  const routes = (): { readonly method: string; readonly path: string }[] => {
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
    const paths = [
      '/api/v1/workers',
      `/api/v1/workers/${worker}`,
      `/api/v1/workers/${worker}/consequences`,
      `/api/v1/workers/${worker}/drain`,
      `/api/v1/workers/${worker}/undrain`,
      `/api/v1/workers/${worker}/evict`,
      '/api/v1/endpoints/drain',
      '/api/v1/endpoints/undrain',
      '/api/v1/endpoints/cordon',
      '/api/v1/endpoints/uncordon',
      '/api/v1/drains',
      '/api/v1/quarantine',
      `/api/v1/quarantine/decode/${encodeURIComponent('http://10.0.0.2:8000')}`,
      '/api/v1/departed',
      '/api/v1/cache',
      '/api/v1/cache/tree',
      '/api/v1/requests',
      '/api/v1/requests/x',
      '/api/v1/handoffs',
      '/api/v1/about',
      '/api/v1/events',
      '/api/v1/overview',
      '/api/v1/config',
      '/metrics',
      '/api/docs',
      '/api/docs/swagger-ui.css',
      '/api/openapi.json',
      '/api/openapi.yaml',
      '/nothing/here',
    ];
    return paths.flatMap((path) => methods.map((method) => ({ method, path })));
  };

  it('is refused without a token on every route and method', async () => {
    for (const { method, path } of routes()) {
      const answer = await admin.call(method, path, undefined, {});
      expect(`${method} ${path} ${answer.status}`).toBe(`${method} ${path} 401`);
    }
    untouched();
  });

  it('lets a viewer read and change nothing', async () => {
    for (const { method, path } of routes()) {
      const { status } = await admin.call(method, path, undefined, bearer(viewerToken));
      if (['GET', 'HEAD', 'OPTIONS'].includes(method)) expect([401, 403]).not.toContain(status);
      else expect(`${method} ${path} ${status}`).toBe(`${method} ${path} 403`);
    }
    untouched();
  });

  it.each([
    '/api/v1/workers/',
    '//api/v1/workers',
    '/api//v1/workers',
    '/api/v1/../v1/workers',
    '/api/v1/%2e%2e/v1/workers',
    '/%61pi/v1/workers',
    '/API/V1/WORKERS',
    '/api/v1/workers;x=1',
    '/api/v1/workers%00',
    '/api/v1/workers?token=op-secret-token',
    '/./api/v1/workers',
    '/login.js/../api/v1/workers',
    '/api/v1/session/../workers',
    'http://x/api/v1/workers',
  ])('is not had by writing the path as %s', async (path) => {
    const answers = [
      await raw(admin.origin, [`GET ${path} HTTP/1.1`]),
      await raw(admin.origin, [`GET ${path} HTTP/1.1`, 'X-Original-URL: /', 'X-Rewrite-URL: /', 'X-Forwarded-For: 127.0.0.1', 'X-HTTP-Method-Override: GET']),
    ];
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 (401|400) /);
      expect(answer).not.toContain('10.0.0.2');
    }
  });

  it('has every route in the list above', () => {
    const templates = [...admin.routes].filter((route) => !['/', '/*', '/assets/*', '/api/v1/session'].includes(route) && !route.startsWith('/api/docs'));
    const listed = routes().map(({ path }) => path);
    for (const template of templates) {
      const pattern = new RegExp(`^${template.replace(/:\w+/g, '[^/]+')}$`);
      expect(listed.some((path) => pattern.test(path)) ? template : `missing: ${template}`).toBe(template);
    }
    expect(templates.length).toBeGreaterThan(20);
  });

  it.each([
    ['nothing', ['Authorization:']],
    ['no token', ['Authorization: Bearer']],
    ['an empty token', ['Authorization: Bearer  ']],
    ['a prefix', [`Authorization: Bearer ${operatorToken.slice(0, -1)}`]],
    ['a longer one', [`Authorization: Bearer ${operatorToken}x`]],
    ['another case', [`Authorization: Bearer ${operatorToken.toUpperCase()}`]],
    ['two tokens', [`Authorization: Bearer ${operatorToken} ${operatorToken}`]],
    ['another scheme', [`Authorization: Basic ${Buffer.from(`x:${operatorToken}`).toString('base64')}`]],
    ['no scheme', [`Authorization: ${operatorToken}`]],
    ['two headers', ['Authorization: Bearer wrong', `Authorization: Bearer ${operatorToken}`]],
    ['two headers, the good one first', [`Authorization: Bearer ${operatorToken}`, 'Authorization: Bearer wrong']],
    ['the header of the API port', [`x-api-key: ${operatorToken}`]],
    ['the token as cookie', [`Cookie: switchyard_session=${operatorToken}`]],
  ])('is not had with %s', async (_name, headers) => {
    expect(await raw(admin.origin, ['GET /api/v1/workers HTTP/1.1', ...headers])).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('takes the scheme in any case', async () => {
    expect((await admin.call('GET', '/api/v1/workers', undefined, { authorization: `bearer ${operatorToken}` })).status).toBe(200);
    expect((await admin.call('GET', '/api/v1/workers', undefined, { authorization: `BEARER ${viewerToken}` })).status).toBe(200);
  });

  it('answers refusals in one shape, with headers that keep browsers careful', async () => {
    const { body, headers } = await admin.call('GET', '/nowhere', undefined, {});
    expect(body).toEqual({ error: { code: 'unauthorized', message: expect.any(String), remedy: expect.any(String) } });
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(headers.get('strict-transport-security')).toBeNull();
    expect((await admin.get('/nowhere')).body.error.code).toBe('not_found');
  });

});

describe('sessions', () => {
  let admin: AdminHarness;
  beforeAll(async () => {
    admin = await AdminHarness.start();
  });
  afterAll(() => admin.close());

  const logIn = async (token: string): Promise<{ readonly status: number; readonly cookie: string; readonly body: any; readonly headers: Headers }> => {
    const answer = await admin.call('POST', '/api/v1/session', { token }, {});
    return { ...answer, cookie: answer.headers.get('set-cookie') ?? '' };
  };

  it('are had for a token, carry its role and end', async () => {
    const { status, body, cookie } = await logIn(operatorToken);
    expect([status, body]).toEqual([200, { role: 'operator' }]);
    expect(cookie).toMatch(/^switchyard_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(operatorToken);
    const session = { cookie: cookie.split(';')[0]! };
    expect((await admin.call('GET', '/api/v1/session', undefined, session)).body).toEqual({ role: 'operator' });
    expect((await admin.call('GET', '/api/v1/workers', undefined, session)).status).toBe(200);
    expect((await admin.call('PATCH', '/api/v1/config', { 'cache-threshold': 0.5 }, session)).status).toBe(200);
    const out = await admin.call('DELETE', '/api/v1/session', undefined, session);
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toMatch(/^switchyard_session=;/);
    expect((await admin.call('GET', '/api/v1/workers', undefined, session)).status).toBe(401);
    expect((await admin.call('GET', '/api/v1/session', undefined, {})).status).toBe(401);
  });

  it('are ended only once, which is audited', async () => {
    const session = { cookie: (await logIn(viewerToken)).cookie.split(';')[0]! };
    await admin.call('DELETE', '/api/v1/session', undefined, session);
    const { items } = (await admin.get('/api/v1/events?type=session')).body;
    expect(items.at(-1)).toMatchObject({ actor: 'viewer', detail: { action: 'logout', address: '127.0.0.1' } });
    expect((await admin.call('DELETE', '/api/v1/session', undefined, session)).status).toBe(401);
  });

  it('outlive a restart of the router with the same token, and no other', async () => {
    const store = new MemoryStore();
    const flags = (token: string): string[] => ['--admin-token', token, '--viewer-token', viewerToken];
    const before = await AdminHarness.start({ store, flags: flags(operatorToken) });
    const cookieOf = async (token: string): Promise<string> =>
      (await before.call('POST', '/api/v1/session', { token }, {})).headers.get('set-cookie')!.split(';')[0]!;
    const [operator, viewer, left] = [await cookieOf(operatorToken), await cookieOf(viewerToken), await cookieOf(operatorToken)];
    await before.call('DELETE', '/api/v1/session', undefined, { cookie: left });
    expect(JSON.stringify(store.liveSessions(0))).not.toContain(operator.split('=')[1]);
    await before.close();
    const who = async (harness: AdminHarness, cookie: string): Promise<unknown> => {
      const { status, body } = await harness.call('GET', '/api/v1/session', undefined, { cookie });
      return status === 200 ? body.role : status;
    };
    const after = await AdminHarness.start({ store, flags: flags(operatorToken) });
    expect([await who(after, operator), await who(after, viewer), await who(after, left)]).toEqual(['operator', 'viewer', 401]);
    await after.close();
    const changed = await AdminHarness.start({ store, flags: flags('another-token') });
    expect([await who(changed, operator), await who(changed, viewer)]).toEqual([401, 'viewer']);
    await changed.close();
  });

  it('end after 12 hours, used or not', async () => {
    const session = { cookie: (await logIn(operatorToken)).cookie.split(';')[0]! };
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now + 12 * 3_600_000 - 60_000);
    try {
      expect((await admin.call('GET', '/api/v1/session', undefined, session)).status).toBe(200);
      clock.mockReturnValue(now + 12 * 3_600_000 + 1_000);
      expect((await admin.call('GET', '/api/v1/session', undefined, session)).status).toBe(401);
    } finally {
      clock.mockRestore();
    }
  });

  it('of a viewer read, and log out', async () => {
    const session = { cookie: (await logIn(viewerToken)).cookie.split(';')[0]! };
    expect((await admin.call('GET', '/api/v1/session', undefined, session)).body).toEqual({ role: 'viewer' });
    expect((await admin.call('PATCH', '/api/v1/config', { 'cache-threshold': 0.5 }, session)).body.error.code).toBe('forbidden');
    expect((await admin.call('DELETE', '/api/v1/session', undefined, session)).status).toBe(204);
  });

  it('do not act for pages of another origin, and count less than a header', async () => {
    const cookie = (await logIn(operatorToken)).cookie.split(';')[0]!;
    const change = (headers: Record<string, string>): Promise<{ status: number }> => admin.call('PATCH', '/api/v1/config', { 'cache-threshold': 0.4 }, { cookie, ...headers });
    expect((await change({ origin: 'http://127.0.0.1:1' })).status).toBe(403);
    expect((await change({ origin: 'null' })).status).toBe(403);
    expect((await change({ origin: admin.origin })).status).toBe(200);
    expect((await change({ authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await change({ authorization: `Bearer ${viewerToken}` })).status).toBe(403);
  });

  it('are audited, refused ones too', async () => {
    await logIn('wrong');
    const { items } = (await admin.get('/api/v1/events?type=session')).body;
    expect(items.at(-1)).toMatchObject({ type: 'session', reason: 'wrong token', detail: { action: 'refused', address: '127.0.0.1' } });
    expect(items).toContainEqual(expect.objectContaining({ actor: 'operator', detail: { action: 'login', address: '127.0.0.1' } }));
    expect(JSON.stringify(items) + admin.logLines.join('')).not.toContain(operatorToken);
  });

  it('cannot be guessed quickly', async () => {
    const statuses = [];
    for (let n = 0; n < 12; n += 1) statuses.push((await logIn(`guess-${n}`)).status);
    expect(statuses).toContain(401);
    expect(statuses.at(-1)).toBe(429);
    const { status, headers, body } = await logIn(operatorToken);
    expect([status, body.error.code]).toEqual([429, 'too_many_attempts']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await admin.get('/api/v1/workers')).status).toBe(200);
  });
});

describe('tokens', () => {
  it('are made when none is configured, and open metrics need none', async () => {
    const admin = await AdminHarness.start({ flags: ['--open-metrics'] });
    const { AdminTokens } = await import('./admin-tokens.js');
    const { generated } = admin.app.get(AdminTokens);
    expect(generated).toMatch(/^[\w-]{32}$/);
    expect((await admin.call('GET', '/api/v1/workers', undefined, bearer(generated!))).status).toBe(200);
    expect((await admin.call('GET', '/api/v1/workers', undefined, bearer(''))).status).toBe(401);
    expect((await admin.call('GET', '/metrics', undefined, {})).status).toBe(200);
    expect((await admin.call('POST', '/metrics', undefined, {})).status).toBe(401);
    await admin.close();
  });
});
