import { AdminHarness, viewerToken } from '../testing/admin-harness.js';

describe('a known path asked with a method it does not take', () => {
  let admin: AdminHarness;
  beforeAll(async () => {
    admin = await AdminHarness.start();
  });
  afterAll(() => admin.close());

  it.each([
    ['PUT', '/api/v1/workers', 'GET, HEAD, POST'],
    ['PATCH', '/api/v1/workers?x=1', 'GET, HEAD, POST'],
    ['POST', '/api/v1/workers/prefill-1', 'DELETE, GET, HEAD'],
    ['DELETE', '/api/v1/workers/prefill-1/drain', 'POST'],
    ['POST', '/api/v1/overview', 'GET, HEAD'],
    ['GET', '/api/v1/endpoints/drain', 'POST'],
    ['HEAD', '/api/v1/endpoints/drain', 'POST'],
    ['GET', '/api/v1/quarantine/decode/http%3A%2F%2F10.0.0.1%3A8000', 'DELETE'],
    ['PUT', '/api/v1/session', 'DELETE, GET, HEAD, POST'],
    ['DELETE', '/metrics', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
    ['OPTIONS', '/api/v1/drains', 'GET, HEAD'],
  ])('%s %s: 405, and what it takes', async (method, path, allow) => {
    const { status, headers, body } = await admin.call(method, path);
    expect([status, headers.get('allow')]).toEqual([405, allow]);
    if (method !== 'HEAD') expect(body).toEqual({ error: { code: 'method_not_allowed', message: `this path takes ${allow}, not ${method}`, remedy: expect.any(String) } });
  });

  it('is told so only to whoever may ask', async () => {
    expect((await admin.call('PUT', '/api/v1/workers', undefined, {})).status).toBe(401);
    expect((await admin.call('GET', '/api/v1/endpoints/drain', undefined, {})).status).toBe(401);
    expect((await admin.call('PUT', '/api/v1/workers', undefined, { authorization: `Bearer ${viewerToken}` })).status).toBe(403);
    expect((await admin.call('GET', '/api/v1/endpoints/drain', undefined, { authorization: `Bearer ${viewerToken}` })).status).toBe(405);
  });

  it.each([
    ['GET', '/nowhere'],
    ['POST', '/api/v1/workers/prefill-1/paint'],
    ['GET', '/api/v1/workers/prefill-1/'],
    ['GET', '/api/v1/workers/prefill-1'],
    ['POST', '/workers'],
  ])('%s %s is something else: nothing is there', async (method, path) => {
    const { status, headers } = await admin.call(method, path);
    expect([status, headers.get('allow')]).toEqual([404, null]);
  });
});
