import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { AdminHarness } from '../testing/admin-harness.js';

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('the dashboard', () => {
  let directory: string;
  let admin: AdminHarness;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
    mkdirSync(join(directory, 'built/assets'), { recursive: true });
    writeFileSync(join(directory, 'built/index.html'), '<!doctype html><title>the page</title>');
    writeFileSync(join(directory, 'built/color-scheme.js'), 'scheme()');
    writeFileSync(join(directory, 'built/secret.txt'), 'not served');
    writeFileSync(join(directory, 'built/assets/main-Ab12.js'), 'main()');
    writeFileSync(join(directory, 'built/assets/main-Ab12.js.gz'), gzipSync('main()'));
    writeFileSync(join(directory, 'outside.js'), 'outside()');
    admin = await AdminHarness.start({ dashboard: join(directory, 'built') });
  });
  afterAll(async () => {
    await admin.close();
    rmSync(directory, { recursive: true });
  });

  const get = (path: string, headers: Record<string, string> = browser) => admin.call('GET', path, undefined, headers);

  it('sends the compressed copy of a file to whoever takes it', async () => {
    const packed = await get('/assets/main-Ab12.js', { 'accept-encoding': 'gzip' });
    const plain = await get('/assets/main-Ab12.js', { 'accept-encoding': 'identity' });
    expect([packed.status, packed.headers.get('content-encoding'), packed.body]).toEqual([200, 'gzip', 'main()']);
    expect([plain.status, plain.headers.get('content-encoding'), plain.body]).toEqual([200, null, 'main()']);
    expect(packed.headers.get('content-type')).toContain('javascript');
  });

  it.each(['/', '/workers', '/workers/decode-7?tab=events', '/requests/chatcmpl-1', '/apinion'])('opens its page at %s, without a token, and asks again each time', async (path) => {
    const { status, headers, body } = await get(path);
    expect([status, body]).toEqual([200, '<!doctype html><title>the page</title>']);
    expect(headers.get('content-type')).toContain('text/html');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('etag')).not.toBeNull();
  });

  it('lets nothing come from elsewhere and no script be in the page', async () => {
    const policy = (await get('/')).headers.get('content-security-policy')!;
    const directives = new Map(policy.split(';').map((part) => [part.split(' ')[0]!, part.split(' ').slice(1).join(' ')]));
    for (const name of ['default-src', 'script-src', 'connect-src', 'font-src']) expect(directives.get(name)).toBe("'self'");
    expect(directives.get('style-src')).toBe("'self' 'unsafe-inline'");
    expect(directives.get('frame-ancestors')).toBe("'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  it('keeps files with a hash for good, others not', async () => {
    const asset = await get('/assets/main-Ab12.js', {});
    expect([asset.status, asset.body, asset.headers.get('cache-control')]).toEqual([200, 'main()', 'public, max-age=31536000, immutable']);
    expect(asset.headers.get('content-type')).toContain('javascript');
    const file = await get('/color-scheme.js', { accept: '*/*' });
    expect([file.status, file.body, file.headers.get('cache-control')]).toEqual([200, 'scheme()', 'no-cache']);
    expect((await get('/color-scheme.js', { 'if-none-match': file.headers.get('etag')!, 'cache-control': 'max-age=0' })).status).toBe(304);
  });

  it.each(['/assets/missing-1.js', '/missing.js', '/assets/', '/assets/..%2f..%2foutside.js', '/..%2foutside.js', '/assets/../../outside.js'])('has nothing at %s', async (path) => {
    const { status, body } = await get(path, {});
    expect([401, 403, 404]).toContain(status);
    expect(JSON.stringify(body)).not.toContain('outside');
  });

  it.each(['/secret.txt', '/nowhere', '/api/v1/nowhere', '/live', '/metrics/x', '/api'])('does not answer for %s to what is no browser', async (path) => {
    expect((await get(path, { accept: '*/*' })).status).toBe(401);
    expect((await admin.get(path)).body.error.code).toBe('not_found');
  });

  it.each(['/api/v1/nowhere', '/api', '/live', '/metrics/x'])('does not stand in for the API at %s', async (path) => {
    expect((await get(path)).status).toBe(401);
  });

  it('takes nothing', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) expect((await admin.call(method, '/workers', undefined, browser)).status).toBe(401);
  });

  it('says how to build it where it is not built', async () => {
    const bare = await AdminHarness.start();
    const { status, body, headers } = await bare.call('GET', '/', undefined, browser);
    expect([status, headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(body).toContain('npm run build');
    expect((await bare.call('GET', '/assets/main.js', undefined, {})).status).toBe(404);
    await bare.close();
  });
});
