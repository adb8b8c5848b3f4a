import { type Browser } from 'playwright-core';

import { Child } from '../support/child.js';
import { eventually } from '../support/eventually.js';
import { operatorToken, RouterProcess } from '../support/router-process.js';
import { openChromium } from './support/chromium.js';
import { BrowserCluster } from './support/cluster.js';
import { Viewer } from './support/viewer.js';

/** The page asks who it is before there is a session. */
const unknown = /status of 401/;

describe('who may see and who may act', () => {
  const started = new BrowserCluster();
  let browser: Browser;
  let router: RouterProcess;
  const viewers: Viewer[] = [];

  beforeAll(async () => {
    browser = started.add(await openChromium(), (opened) => opened.close());
    router = await started.durableRouter();
    for (const role of ['prefill', 'decode', 'decode'] as const) await started.nixl(router, role);
    await router.admin.selectable({ prefill: 1, decode: 2 });
  });
  afterAll(async () => await started.end());
  afterEach(async () => {
    for (const viewer of viewers.splice(0)) {
      viewer.assertNoComplaint();
      await viewer.close();
    }
  });

  async function open(role: 'operator' | 'viewer' | 'nobody', at = router): Promise<Viewer> {
    const viewer = await Viewer.open(browser, at, { role });
    viewers.push(viewer);
    return viewer;
  }
  const logOut = (viewer: Viewer) => viewer.page.getByRole('banner').getByRole('button', { name: 'Log out' });
  const token = (viewer: Viewer) => viewer.page.getByLabel('Token', { exact: true });

  it('opens the link that a start without a token prints; the token leaves the address before anything is sent', async () => {
    const flags = ['--host', '127.0.0.1', '--port', '0', '--admin-port', '0', '--discovery-address', '127.0.0.1:0', '--data-dir', 'memory'];
    const child = started.add(new Child(process.execPath, ['dist/apps/router/main.js', 'serve', ...flags]), (made) => made.stop());
    const appliance = await RouterProcess.attach(child);
    const [, link = '', secret = ''] = await eventually('the link', () => child.stderr.map((line) => /(http:\/\/\S+#token=(\S+))/.exec(line)).find((match) => match !== null));
    expect(new URL(link).host).toBe(appliance.adminAddress);
    const viewer = await open('nobody', appliance);
    const sent: { readonly url: string; readonly address: string; readonly referer: string | undefined }[] = [];
    viewer.page.on('request', (request) => void sent.push({ url: request.url(), address: viewer.page.url(), referer: request.headers()['referer'] }));
    await viewer.page.goto(link);
    await viewer.page.getByRole('heading', { name: 'No engine has registered yet' }).waitFor();
    expect(viewer.page.url()).toBe(`http://${appliance.adminAddress}/`);
    expect(await viewer.page.evaluate(() => [location.hash, history.length <= 2, JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]), document.cookie])).toEqual(['', true, expect.not.stringContaining(secret), '']);
    const toApi = sent.filter(({ url }) => url.includes('/api/'));
    expect(toApi[0]!.url).toMatch(/\/api\/v1\/session$/);
    for (const { url, address, referer = '' } of toApi) expect(`${url} ${address} ${referer}`).not.toContain(secret);
    await viewer.page.goBack();
    await viewer.page.goForward();
    await viewer.page.getByRole('heading', { name: 'No engine has registered yet' }).waitFor();
    expect(viewer.page.url()).not.toContain('#');
    const [cookie] = await viewer.context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  });

  it('refuses a wrong token with words, takes the right one, and logs out for good', async () => {
    const viewer = await open('nobody');
    viewer.expecting(unknown);
    await viewer.goto('/#token=wrong-in-the-link');
    await token(viewer).waitFor();
    expect(viewer.page.url()).toBe(`${viewer.origin}/`);
    await token(viewer).fill('wrong');
    await viewer.page.keyboard.press('Enter');
    await viewer.page.getByText('this token is not known use the operator or viewer token of this router').waitFor();
    await token(viewer).fill(operatorToken);
    await viewer.page.getByRole('button', { name: 'Log in' }).click();
    await viewer.page.getByText('The cluster serves').waitFor();
    const [cookie] = await viewer.context.cookies();
    const asThen = { headers: { cookie: `${cookie!.name}=${cookie!.value}` } };
    expect((await fetch(`${viewer.origin}/api/v1/workers`, asThen)).status).toBe(200);

    const other = await viewer.context.newPage();
    await other.goto(`${viewer.origin}/workers`);
    await other.getByRole('grid', { name: 'Workers' }).waitFor();
    await logOut(viewer).click();
    await token(viewer).waitFor();
    expect((await fetch(`${viewer.origin}/api/v1/workers`, asThen)).status).toBe(401);
    // The other window's stream ends with the session, and it asks for a token too.
    await other.getByLabel('Token', { exact: true }).waitFor();
    expect(await other.getByRole('grid').count()).toBe(0);
  });

  it('lets a viewer see everything and offers nothing that would be refused', async () => {
    const viewer = await open('viewer');
    const { page } = viewer;
    await page.getByText('read-only', { exact: true }).waitFor();
    const [kept, evicted] = (await router.admin.workers()).filter(({ role }) => role === 'decode');
    const { id, endpoint } = kept!;
    await router.admin.call('POST', `/api/v1/workers/${evicted!.id}/evict`, { reason: 'for the list' });
    const forbidden = page.getByRole('button', { name: /^(?:drain|undrain|evict|readmit|review|discard|remove|add)\b/i });

    await viewer.goto('/workers');
    await viewer.row(id).getByText('Ready', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Quarantined' }).getByText('“for the list” by operator').waitFor();
    expect(await forbidden.count()).toBe(0);
    expect(await page.getByRole('grid').getByRole('checkbox').count()).toBe(0);
    await viewer.row(id).focus();
    for (const key of ['d', 'x']) await page.keyboard.press(key);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('Enter');
    await viewer.dialog(id).getByRole('region', { name: 'Facts' }).getByText(endpoint).waitFor();
    expect(await forbidden.count()).toBe(0);

    await viewer.goto('/settings');
    await page.getByText('May read everything and change nothing.').waitFor();
    expect(await forbidden.count()).toBe(0);
    expect(await page.getByText('Change while it runs').count()).toBe(0);
    for (const path of ['/', '/cache', '/requests', '/events']) {
      await viewer.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await forbidden.count()).toBe(0);
    }

    const calls = [
      ['POST', `/api/v1/workers/${id}/drain`, {}],
      ['POST', `/api/v1/workers/${id}/evict`, { reason: 'x', force: true }],
      ['POST', '/api/v1/endpoints/cordon', { endpoint }],
      ['DELETE', `/api/v1/quarantine/decode/${encodeURIComponent(endpoint)}`, undefined],
      ['PATCH', '/api/v1/config', { policy: 'random' }],
    ] as const;
    viewer.expecting(/status of 403/);
    for (const [method, path, body] of calls) {
      const status = await page.evaluate(
        async ([how, where, what]) => (await fetch(where, { method: how, ...(what === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(what) }) })).status,
        [method, path, body] as const,
      );
      expect([method, path, status]).toEqual([method, path, 403]);
    }
    expect(await router.admin.get(`/api/v1/workers/${id}`)).toMatchObject({ adminState: 'ready' });
    const { items } = await router.admin.get('/api/v1/quarantine');
    expect(items).toHaveLength(1);
    await router.admin.call('DELETE', `/api/v1/quarantine/decode/${encodeURIComponent(items[0].endpoint)}`);
    await router.admin.selectable({ decode: 2 });
  });

  it('follows live as a viewer', async () => {
    const viewer = await open('viewer');
    await viewer.goto('/workers');
    const { id } = (await router.admin.workers()).find(({ role }) => role === 'decode')!;
    await viewer.row(id).getByText('Ready', { exact: true }).waitFor();
    await router.admin.call('POST', `/api/v1/workers/${id}/drain`, {});
    await viewer.row(id).getByText('safe to stop').waitFor();
    await router.admin.call('POST', `/api/v1/workers/${id}/undrain`, {});
    await viewer.row(id).getByText('Ready', { exact: true }).waitFor();
  });
});
