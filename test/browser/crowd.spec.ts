import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

import { type Browser } from 'playwright-core';

import { eventually } from '../support/eventually.js';
import { Pinger } from '../support/pinger.js';
import { type RouterProcess } from '../support/router-process.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { openChromium } from './support/chromium.js';
import { BrowserCluster } from './support/cluster.js';
import { inEveryLook } from './support/pictures.js';
import { Viewer } from './support/viewer.js';

const longName = 'gpu-node-with-a-rather-long-name-0042.rack-17.row-b.hall-3.eu-central-1.compute.internal.example.com';

/** One server behind every address of 127/8: as many engines as there are names for it. */
async function manyEngines(): Promise<Server> {
  const answers: Readonly<Record<string, string>> = { '/v1/models': '{"data":[{"id":"sim-model"}]}', '/version': '{"version":"0.11.0"}' };
  const answer = (url: string, res: ServerResponse): void => void res.setHeader('content-type', 'application/json').end(answers[url] ?? '{}');
  const server = createServer((req, res) => answer(req.url ?? '/', res)).listen(0, '0.0.0.0');
  await once(server, 'listening');
  return server;
}

describe('pools of odd sizes', () => {
  const started = new BrowserCluster();
  let browser: Browser;

  beforeAll(async () => {
    browser = started.add(await openChromium(), (opened) => opened.close());
  });
  afterAll(async () => await started.end());

  it('shows one lonely worker, and says that it cannot serve', async () => {
    const router = await started.durableRouter();
    const engine = await started.nixl(router, 'prefill');
    await router.admin.selectable({ prefill: 1 });
    const operator = await Viewer.open(browser, router);
    await inEveryLook(operator, 'one-overview', async () => {
      await operator.page.getByRole('heading', { name: /^Clients get 503: .*decode/, level: 1 }).waitFor();
      await operator.page.getByText('No decode worker', { exact: true }).waitFor();
      expect(await operator.page.getByRole('region', { name: 'Needs attention' }).innerText()).toMatch(/decode.*: clients get 503/i);
      expect(await operator.page.getByRole('region', { name: 'Pairing groups' }).innerText()).toMatch(/1 of 1\s+none/);
    });
    await operator.goto('/workers');
    await inEveryLook(operator, 'one-workers', async ({ width }) => {
      const row = operator.row('prefill-1');
      await row.getByText('Ready', { exact: true }).waitFor();
      if (width > 700) expect(await row.innerText()).toContain(engine.address);
    });
    await operator.close();
  });

  describe('two hundred workers', () => {
    const each = 100;
    let router: RouterProcess;
    let operator: Viewer;

    beforeAll(async () => {
      router = await started.durableRouter(['--registration-ttl-secs', '120', '--health-check-interval-secs', '3']);
      const engines = started.add(await manyEngines(), (server) => server.close());
      const { port } = engines.address() as AddressInfo;
      const six = started.add(await ScriptedEngine.start({ host: '::1', models: ['sim-model'], version: '0.11.0' }), (engine) => engine.stop());
      const pinger = started.add(new Pinger(router.discovery), (made) => made.close());
      const ping = async (type: 'P' | 'D', address: string, at: number): Promise<void> =>
        await pinger.ping({ type, http_address: address, zmq_address: `127.0.0.1:${String(10_000 + at)}`, connector: 'nixl' });
      for (let at = 0; at < each; at += 1) {
        await ping('P', `127.1.0.${String(at + 1)}:${String(port)}`, at);
        await ping('D', at === 0 ? `[::1]:${String(six.port)}` : `127.2.0.${String(at + 1)}:${String(port)}`, each + at);
      }
      await router.admin.call('POST', '/api/v1/workers', { role: 'decode', url: `http://${longName}:8000` });
      await eventually('200 workers', async () => (await router.admin.workers()).filter(({ selectable }) => selectable).length === 2 * each, 20_000);
      const workers = await router.admin.workers();
      for (const { id } of workers.filter((_, at) => at % 40 === 7)) await router.admin.call('POST', `/api/v1/workers/${id}/drain`, { reason: 'crowd' });
      operator = await Viewer.open(browser, router);
    });
    afterAll(async () => await operator.close());

    it('are told apart in the overview', async () => {
      await inEveryLook(operator, 'crowd-overview', async () => {
        await operator.page.getByRole('heading', { name: 'The cluster serves', level: 1 }).waitFor();
        expect(await operator.page.getByRole('region', { name: 'Prefill' }).getByRole('link').count()).toBe(each);
        expect(await operator.page.getByRole('region', { name: 'Decode' }).getByRole('link').count()).toBe(each + 1);
        expect(await operator.page.getByRole('region', { name: 'Decode' }).innerText()).toMatch(/\d+ of 101 selectable/);
      });
    });

    it('are rows of which only those in sight are made; long names and IPv6 have their place', async () => {
      await operator.goto('/workers');
      const grid = operator.page.getByRole('grid', { name: 'Workers' });
      await inEveryLook(operator, 'crowd-workers', async () => {
        await operator.page.getByText('201', { exact: true }).waitFor();
        expect(await grid.getAttribute('aria-rowcount')).toBe('202');
        await eventually('the rows', async () => (await grid.locator('[data-worker]').count()) > 5);
        expect(await grid.locator('[data-worker]').count()).toBeLessThan(80);
      });
      await operator.page.getByLabel('Filter workers').fill('[::1]');
      await eventually('one row', async () => (await grid.locator('[data-worker]').count()) === 1);
      await operator.page.getByLabel('Filter workers').fill('gpu-node');
      await eventually('the long name', async () => (await grid.locator('[data-worker]').count()) === 1);
      await inEveryLook(operator, 'long-name-workers', async ({ width }) => {
        if (width > 700) await grid.getByText(longName).waitFor();
        await grid.getByText(/Starting|Down/).first().waitFor();
      });
      const id = await grid.locator('[data-worker]').getAttribute('data-worker');
      await operator.goto(`/workers?worker=${id!}`);
      await inEveryLook(operator, 'long-name-drawer', async () => {
        await operator.dialog(id!).getByText(longName).first().waitFor();
      });
    });
  });
});
