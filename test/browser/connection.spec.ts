import { join } from 'node:path';

import { type Browser } from 'playwright-core';

import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { type RouterProcess } from '../support/router-process.js';
import { openChromium } from './support/chromium.js';
import { BrowserCluster } from './support/cluster.js';
import { pictureFolder } from './support/pictures.js';
import { Viewer } from './support/viewer.js';

describe('a connection that is lost and regained', () => {
  const started = new BrowserCluster();
  let browser: Browser;
  let router: RouterProcess;
  let operator: Viewer;
  let dataDir: string;
  let ports: readonly string[];

  beforeAll(async () => {
    browser = started.add(await openChromium(), (opened) => opened.close());
    dataDir = await started.dataDir();
    const [adminPort, discoveryPort] = [await freePort(), await freePort()];
    ports = ['--admin-port', String(adminPort), '--discovery-address', `127.0.0.1:${String(discoveryPort)}`];
    router = await started.durableRouter(ports, dataDir);
    for (const role of ['prefill', 'decode', 'decode'] as const) await started.nixl(router, role);
    await router.admin.selectable({ prefill: 1, decode: 2 });
    operator = await Viewer.open(browser, router);
  });
  afterAll(async () => await started.end());
  beforeEach(async () => {
    await operator.goto('/workers');
    // A page that was loaded anew has lost it.
    await operator.page.evaluate(() => (document.body.dataset['seen'] = 'before'));
  });
  afterEach(async () => {
    router.child.signal('SIGCONT');
    expect(await operator.page.evaluate(() => document.body.dataset['seen'])).toBe('before');
    operator.assertNoComplaint();
  });

  const link = () => operator.page.getByRole('group', { name: 'Live connection' });
  const main = () => operator.page.getByRole('main');
  const clock = (atMs: number): string => new Date(atMs).toLocaleTimeString('en-GB');

  async function assertStale(): Promise<void> {
    const said = await eventually('the words', async () => /^stale since (\d\d:\d\d:\d\d)(?:, retrying at (\d\d:\d\d:\d\d))$/.exec(await link().innerText()), 15_000);
    expect(said[1]! <= clock(Date.now())).toBe(true);
    const { opacity, filter } = await main().evaluate((element) => {
      const style = getComputedStyle(element);
      return { opacity: Number(style.opacity), filter: style.filter };
    });
    expect(opacity).toBeLessThan(0.8);
    expect(filter).toMatch(/grayscale/);
  }

  async function assertLive(): Promise<void> {
    await eventually('news', async () => /^updated [01]\.\d s ago$/.test(await link().innerText()), 15_000);
    expect(await main().evaluate((element) => getComputedStyle(element).filter)).toBe('none');
  }

  it('says since when the picture is old, keeps it, says why nothing can be done, and is right again when the router answers', async () => {
    const [, kept = ''] = (await router.admin.workers()).map(({ id }) => id);
    await operator.row(kept).getByRole('checkbox').check();
    await assertLive();
    operator.expecting(/ERR_|WebSocket/);
    router.child.signal('SIGSTOP');
    await assertStale();
    await operator.row(kept).getByText('Ready', { exact: true }).waitFor();
    const drain = operator.page.getByRole('toolbar', { name: 'Selected workers' }).getByRole('button', { name: 'Drain…' });
    expect(await drain.getAttribute('aria-disabled')).toBe('true');
    await drain.focus();
    await operator.page.getByText('The router does not answer; this picture is old.').first().waitFor();
    // It pings a router that does not listen yet, and is there when it does.
    const late = await started.nixl(router, 'decode');
    router.child.signal('SIGCONT');
    await assertLive();
    const joined = await eventually('the new engine', async () => await router.admin.worker('decode', late.url));
    await operator.row(joined.id).getByText('Ready', { exact: true }).waitFor();
    expect(await drain.getAttribute('aria-disabled')).toBe('false');
  });

  it('follows a router that was killed and started again, without a reload and without a new log-in', async () => {
    const { id, endpoint } = (await router.admin.workers()).find(({ role }) => role === 'decode')!;
    expect((await router.admin.call('POST', `/api/v1/workers/${id}/drain`, { reason: 'stays out', until: 'undrain' })).status).toBe(200);
    await operator.row(id).getByText('safe to stop').waitFor();
    operator.expecting(/ERR_|WebSocket|status of 409/);
    router.child.signal('SIGKILL');
    await router.child.end();
    await assertStale();
    await operator.row(id).getByText('Drained', { exact: true }).waitFor();
    await operator.page.screenshot({ path: join(pictureFolder, 'stale-workers-1440-light.png') });

    router = await started.durableRouter(ports, dataDir);
    await assertLive();
    const after = await eventually('the drained engine', async () => await router.admin.worker('decode', endpoint));
    expect(after.id).not.toBe(id);
    await operator.row(after.id).getByText('Drained', { exact: true }).waitFor();
    await operator.row(id).waitFor({ state: 'detached' });
    await router.admin.selectable({ prefill: 1 });

    await operator.row(after.id).click();
    await operator.dialog(after.id).getByRole('button', { name: 'Undrain' }).click();
    await operator.dialog(after.id).getByRole('button', { name: 'Close' }).click();
    await operator.row(after.id).getByText('Ready', { exact: true }).waitFor();
  });
});
