import { type Browser } from 'playwright-core';

import { eventually } from '../support/eventually.js';
import { type RouterProcess } from '../support/router-process.js';
import { openChromium } from './support/chromium.js';
import { BrowserCluster } from './support/cluster.js';
import { inEveryLook, pictureFolder } from './support/pictures.js';
import { Stream } from './support/stream.js';
import { Viewer } from './support/viewer.js';

/** A system prompt as several requests share it. */
const shared = 'You work in the control room of a railway yard and name track, signal and switch. '.repeat(40);

describe('the screens', () => {
  const started = new BrowserCluster();
  let browser: Browser;

  beforeAll(async () => {
    browser = started.add(await openChromium(), (opened) => opened.close());
  });
  afterAll(async () => {
    console.log(`pictures of every screen: ${pictureFolder}`);
    await started.end();
  });

  describe('without an engine', () => {
    let router: RouterProcess;
    let operator: Viewer;
    beforeAll(async () => {
      router = await started.durableRouter(['--advertise-host', '10.1.2.3']);
      operator = await Viewer.open(browser, router);
    });
    afterAll(async () => await operator.close());

    const discoveryPort = (): string => router.discovery.split(':')[1]!;
    const adminPort = (): string => router.adminAddress.split(':')[1]!;
    /** What each way to start vLLM shows, this router's own addresses filled in. */
    const recipes = (): readonly (readonly [string, readonly string[]])[] => [
      ['Static flags', ['switchyard serve --prefill http://PREFILL:8000 --decode http://DECODE:8000', '--worker-url http://ENGINE:8000']],
      ['MoRI-IO', ['"kv_connector":"MoRIIOConnector"', `"proxy_ip":"10.1.2.3","proxy_ping_port":"${discoveryPort()}"`, '"read_mode":"true"']],
      ['P2P NCCL', ['"kv_connector":"P2pNcclConnector"', `"proxy_ip":"10.1.2.3","proxy_port":"${discoveryPort()}"`, 'VLLM_DISABLE_REQUEST_ID_RANDOMIZATION=1']],
      ['NIXL', [`switchyard announce --engine http://127.0.0.1:8000 --role prefill --router 10.1.2.3:${discoveryPort()}`, '--role decode', `--admin http://10.1.2.3:${adminPort()}`]],
    ];

    it.each([
      ['overview', '/'],
      ['workers', '/workers'],
    ])('%s teaches how engines join, with this router’s addresses', async (name, path) => {
      await operator.goto(path);
      const panel = operator.page.getByRole('region', { name: 'Start vLLM with …' });
      await inEveryLook(operator, `empty-${name}`, async () => {
        if (name === 'overview') await operator.page.getByRole('heading', { name: 'No engine has registered yet', level: 1 }).waitFor();
        await panel.getByText(`Engines reach this router at 10.1.2.3:${discoveryPort()}.`).waitFor();
        for (const [choice, expected] of recipes()) {
          await panel.getByRole('button', { name: choice }).click();
          const commands = (await panel.getByLabel('Command').allInnerTexts()).join('\n');
          for (const part of expected) expect(commands).toContain(part);
        }
      });
    });

    it('cache says why there is no index, and that prompts are not stored', async () => {
      await operator.goto('/cache');
      await inEveryLook(operator, 'empty-cache', async () => {
        await operator.page.getByText('No prompt has been placed yet').waitFor();
        await operator.page.getByText(/Prompts are not stored/).waitFor();
        await operator.page.getByText('No history yet').waitFor();
      });
    });

    it('requests shows how to send the first one', async () => {
      await operator.goto('/requests');
      await inEveryLook(operator, 'empty-requests', async () => {
        await operator.page.getByText('No request has come yet').waitFor();
        await eventually('the command', async () => (await operator.page.getByLabel('Command', { exact: true }).innerText()).startsWith(`curl http://10.1.2.3:${router.api.split(':')[1]!}/v1/chat/completions`));
      });
    });

    it('events holds only who came to look', async () => {
      await operator.goto('/events?kind=cluster');
      await inEveryLook(operator, 'empty-events', async () => {
        await operator.page.getByText('No event fits').waitFor();
        await operator.page.getByRole('button', { name: 'Show all' }).waitFor();
      });
      await operator.page.getByRole('button', { name: 'Show all' }).click();
      await operator.page.getByRole('button', { name: /A session of the operator began from 127\.0\.0\.1/ }).waitFor();
    });

    it('login asks for a token and says where it comes from', async () => {
      const nobody = await Viewer.open(browser, router, { role: 'nobody' });
      nobody.expecting(/status of 401/);
      await nobody.goto('/');
      await inEveryLook(nobody, 'login', async () => {
        await nobody.page.getByLabel('Token', { exact: true }).waitFor();
        await nobody.page.getByText(/without one, its log shows a link to open/).waitFor();
      });
      await nobody.close();
    });
  });

  describe('with a cluster in all its states', () => {
    let router: RouterProcess;
    let operator: Viewer;
    let streams: readonly Stream[];
    let drainingId: string;
    let sickId: string;
    let evictedEndpoint: string;

    beforeAll(async () => {
      router = await started.durableRouter(['--decode-policy', 'least_load', '--log-level', 'warn']);
      const engines = [];
      for (const role of ['prefill', 'prefill', 'decode', 'decode', 'decode', 'decode'] as const) {
        engines.push(await started.nixl(router, role, ['--decode-ms-per-token', '20', '--prefill-us-per-token', '100']));
      }
      await router.admin.selectable({ prefill: 2, decode: 4 });
      for (let turn = 0; turn < 12; turn += 1) {
        const body = { model: 'sim-model', prompt: `${shared} ${String(turn % 3)} `.repeat(1 + (turn % 2)), max_tokens: 4 + turn, stream: false };
        expect((await router.post('/v1/completions', body)).status).toBe(200);
      }
      const gone = await Stream.begin(router);
      gone.leave();
      streams = [await Stream.begin(router), await Stream.begin(router), await Stream.begin(router, { prompt: shared })];
      const decodes = (await router.admin.workers()).filter(({ role }) => role === 'decode');
      drainingId = decodes.find(({ load }) => load > 0)!.id;
      await router.admin.call('POST', `/api/v1/workers/${drainingId}/drain`, { reason: 'new kernel', deadlineSecs: 3600 });
      const [sick, evicted] = decodes.filter(({ id }) => id !== drainingId);
      sickId = sick!.id;
      await engines.find(({ url }) => url === sick!.endpoint)!.fault({ kind: 'health', status: 500 });
      evictedEndpoint = evicted!.endpoint;
      await router.admin.call('POST', `/api/v1/workers/${evicted!.id}/evict`, { reason: 'ECC errors' });
      await eventually('the sick one', async () => (await router.admin.worker('decode', sick!.endpoint))!.health === 'unhealthy');
      operator = await Viewer.open(browser, router);
    });
    afterAll(async () => {
      for (const stream of streams) stream.leave();
      await operator.close();
    });

    const page = () => operator.page;
    const region = (name: string) => page().getByRole('region', { name });
    const bare = (endpoint: string): string => endpoint.replace('http://', '');

    it('overview: can it serve, what is odd, where is the load', async () => {
      await operator.goto('/');
      const workers = await router.admin.workers();
      await inEveryLook(operator, 'overview', async ({ width }) => {
        await page().getByRole('heading', { name: 'The cluster serves', level: 1 }).waitFor();
        const last = await page().getByRole('navigation', { name: 'Screens' }).getByRole('link').last().boundingBox();
        expect(last!.x + last!.width).toBeLessThanOrEqual(width);
        const verdict = await page().getByRole('main').innerText();
        expect(verdict).toMatch(/prefill\s+2\/2\s+decode\s+1\/3/);
        const now = await region('Now, and the last 15 minutes').innerText();
        for (const name of ['Requests', 'In flight\\s+3', 'Queued\\s+0', 'First token p50 / p95\\s+[\\d.,]+ / [\\d.,]+\\s*ms', 'Tokens\\s+\\d', 'Errors\\s+0', 'Cache hits\\s+\\d']) expect(now).toMatch(new RegExp(name));
        expect(await region('Now, and the last 15 minutes').locator('canvas').count()).toBe(7);
        expect(await region('Prefill').innerText()).toMatch(/2 of 2 selectable\s+0 in flight/);
        expect(await region('Decode').innerText()).toMatch(/1 of 3 selectable\s+\d in flight/);
        for (const { id, endpoint, load } of workers) {
          const cell = page().getByRole('link', { name: new RegExp(`${id}\\s`) }).first();
          expect(await cell.innerText()).toMatch(new RegExp(`${id}[\\s\\S]*${bare(endpoint)}[\\s\\S]*${String(load)}$`));
        }
        await page().getByRole('link', { name: `${sickId} fails its health checks.` }).waitFor();
        expect(await region('Pairing groups').innerText()).toMatch(/2 of 2\s+1 of 3/);
        expect(await region('Quarantined').innerText()).toMatch(new RegExp(`decode ${bare(evictedEndpoint)}[\\s\\S]*“ECC errors” by operator`));
        expect(await page().getByRole('list', { name: 'Legend' }).innerText()).toMatch(/ready[\s\S]*late, suspect[\s\S]*down[\s\S]*draining[\s\S]*drained[\s\S]*evicted, gone/);
      });
    });

    it('workers: every worker with its state, load, health and age', async () => {
      await operator.goto('/workers');
      const workers = await router.admin.workers();
      const words: Record<string, RegExp> = { [drainingId]: /Draining/, [sickId]: /Down/ };
      await inEveryLook(operator, 'workers', async ({ width }) => {
        await operator.row(drainingId).getByText(/^\d in flight · oldest /).waitFor();
        expect(await page().getByRole('grid', { name: 'Workers' }).getByRole('row').count()).toBe(workers.length + 1);
        for (const { id, endpoint, load } of workers) {
          const said = await operator.row(id).innerText();
          expect(said).toMatch(words[id] ?? /Ready/);
          expect(said).toMatch(new RegExp(`(^|\\s)${id}\\s`));
          expect(said).toMatch(new RegExp(`(^|\\s)${String(load)}(\\s|$)`));
          if (width > 700) {
            expect(said).toContain(bare(endpoint));
            expect(said).toMatch(/\d\.\d s/);
          }
        }
        expect(await operator.row(sickId).locator('[data-tone=down]').first().isVisible()).toBe(true);
      });
    });

    it('workers: filter, sort, hide healthy, choose columns', async () => {
      await page().setViewportSize({ width: 1440, height: 900 });
      await operator.goto('/workers');
      const grid = page().getByRole('grid', { name: 'Workers' });
      const ids = async (): Promise<(string | null)[]> => await grid.locator('[data-worker]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-worker')));
      await operator.row(sickId).waitFor();
      expect((await ids())[0]).toBe(sickId);
      await page().getByLabel('Hide healthy').check();
      await eventually('only the odd ones', async () => (await ids()).sort().join() === [drainingId, sickId].sort().join());
      await page().getByLabel('Hide healthy').uncheck();
      await page().getByLabel('Filter workers').fill('prefill');
      await eventually('only prefill', async () => (await ids()).join() === 'prefill-1,prefill-2');
      await page().getByRole('columnheader', { name: 'Worker' }).getByRole('button').click();
      await page().getByRole('columnheader', { name: 'Worker' }).getByRole('button').click();
      await eventually('the other order', async () => (await ids()).join() === 'prefill-2,prefill-1');
      await page().getByLabel('Filter workers').fill('');
      await page().getByRole('group', { name: 'Role' }).getByRole('button', { name: /^decode/ }).click();
      await eventually('only decode', async () => (await ids()).every((id) => id?.startsWith('decode')));
      await page().getByRole('button', { name: 'Columns' }).click();
      await page().getByLabel('Version').check();
      await grid.getByRole('columnheader', { name: 'Version' }).waitFor();
      await operator.goto('/workers');
      await grid.getByRole('columnheader', { name: 'Version' }).waitFor();
      operator.assertNoComplaint();
    });

    it('worker drawer: what explains its load, its lifetimes, events and facts', async () => {
      const { endpoint } = await router.admin.get(`/api/v1/workers/${drainingId}`);
      await operator.goto(`/workers?worker=${drainingId}`);
      const drawer = operator.dialog(drainingId);
      await inEveryLook(operator, 'worker-drawer', async () => {
        await drawer.getByText(/^\d in flight · oldest /).waitFor();
        await drawer.getByText(/The drain was asked for by operator .*“new kernel”\. It ends with a new engine process, or by Undrain\. Deadline: in \d+ min/).waitFor();
        expect(await drawer.getByRole('region', { name: 'Explain this load' }).innerText()).toMatch(/stream-[0-9a-f]{8}\s+decode, stream\s+sim-model/);
        expect(await drawer.getByRole('region', { name: 'Lifetimes' }).getByRole('row').count()).toBe(2);
        expect(await drawer.getByRole('region', { name: 'Recent events' }).innerText()).toMatch(/drain\s+operator drains decode-\d+, within 1 h\. “new kernel”[\s\S]*registered\s+decode-\d+ joined the decode pool\./);
        expect(await drawer.getByRole('region', { name: 'Facts' }).innerText()).toContain(endpoint);
        await drawer.getByText(/engine numbers are/).waitFor();
      });
    });

    it('drain dialog', async () => {
      const [other] = (await router.admin.workers()).filter(({ role }) => role === 'prefill');
      await operator.goto('/workers');
      await operator.row(other!.id).focus();
      await page().keyboard.press('d');
      const dialog = operator.dialog(`Drain ${other!.id}`);
      await dialog.getByLabel('Deadline').selectOption({ label: '5 minutes' });
      await dialog.getByText('As curl').click();
      await inEveryLook(operator, 'drain-dialog', async () => {
        await dialog.getByText('No request is on it now.').waitFor();
        await dialog.getByText('1 of 2 prefill workers remains selectable.').waitFor();
        await dialog.getByLabel('abort the requests that are still on it').waitFor();
        expect(await dialog.getByLabel('Command').innerText()).toContain('"deadlineSecs":300,"onDeadline":"flag","until":"restart"');
      });
    });

    it('cache: sizes, hit rate, shares and the heaviest prefixes, without any prompt', async () => {
      await operator.goto('/cache?role=prefill&model=sim-model');
      const { items } = await router.admin.get('/api/v1/cache');
      const index = items.find(({ role }: { readonly role: string }) => role === 'prefill');
      const tree = (await router.admin.get('/api/v1/cache/tree?role=prefill&model=sim-model&depth=8&limit=200')).items;
      await inEveryLook(operator, 'cache', async () => {
        await page().getByText(/Prompts are not stored: a prefix is known by its depth, its size and a hash/).waitFor();
        const row = page().getByRole('row', { name: /Prefill\s*sim-model/i });
        await row.waitFor();
        expect(await row.innerText()).toMatch(new RegExp(`KiB[\\s\\S]*of 256 MiB[\\s\\S]*%\\s+${String(index.hits)}\\s+${String(index.misses)}\\s+${String(index.evictions)}\\s`));
        const shares = await region('Share per worker').innerText();
        for (const { id } of index.workers) expect(shares).toMatch(new RegExp(`${id}\\s+\\d+(\\.\\d+)? %`));
        const prefixes = page().getByRole('treegrid', { name: 'Heaviest prefixes' });
        expect(await prefixes.innerText()).toContain(tree[0].hash.slice(0, 8));
        expect(await prefixes.getByRole('row').count()).toBeGreaterThan(1);
        expect(await page().locator('body').innerText()).not.toContain('railway');
        expect(await region('Hit rate').locator('canvas').count()).toBe(1);
      });
    });

    it('requests: in flight and recent, with workers, times and outcome', async () => {
      await operator.goto('/requests');
      await inEveryLook(operator, 'requests', async ({ width }) => {
        await page().getByText('3 in flight · 13 recent ones').waitFor();
        const rows = page().getByRole('table', { name: 'Requests' }).locator('[data-at]');
        await eventually('the rows', async () => (await rows.count()) === 16);
        const said = await rows.allInnerTexts();
        expect(said.filter((row) => row.includes('Streaming'))).toHaveLength(3);
        expect(said.filter((row) => row.includes('Client left'))).toHaveLength(1);
        expect(said.filter((row) => row.includes('OK'))).toHaveLength(12);
        for (const { requestId } of streams) expect(said.join('\n')).toContain(requestId);
        if (width >= 1024) for (const row of said) expect(row).toMatch(/prefill-\d+\s*decode-\d+/);
      });
    });

    it('events: what happened, who did it and why', async () => {
      await operator.goto('/events');
      await inEveryLook(operator, 'events', async () => {
        const stream = region('Events');
        await stream.getByRole('button', { name: new RegExp(`${sickId} is unhealthy`) }).waitFor();
        const said = await stream.innerText();
        expect(said).toMatch(new RegExp(`operator drains ${drainingId}, within 1 h\\.[\\s\\S]*“new kernel”[\\s\\S]*operator`));
        expect(said).toMatch(/operator evicted decode-\d+.*quarantined for 5 min\.[\s\S]*“ECC errors”/);
        expect(said).toMatch(/decode-\d+ joined the decode pool\./);
      });
      await page().getByRole('button', { name: 'Operators' }).click();
      await eventually('only what operators did', async () => !/joined/.test(await region('Events').innerText()));
      operator.assertNoComplaint();
    });

    it('settings: every value with its source, secrets masked, live ones to change', async () => {
      await operator.goto('/settings');
      const { items } = await router.admin.get('/api/v1/config');
      await inEveryLook(operator, 'settings', async () => {
        await page().getByText(new RegExp(`^${String(items.length)} settings, \\d+ not at their default$`)).waitFor();
        const said = await page().getByRole('main').innerText();
        expect(said).toMatch(/decode-policy\s+live\s+least_load\s+--decode-policy/);
        expect(said).toMatch(/registration-ttl-secs\s+10\s+default/);
        expect(said).not.toContain('operator-token-for-tests');
        for (const { name } of items) expect(said).toContain(name);
        expect(await page().getByLabel('Decode policy', { exact: true }).inputValue()).toBe('least_load');
        await page().getByText('May read everything and change everything.').waitFor();
      });
    });

    it('settings: a live change is checked, reviewed, made and audited', async () => {
      await page().setViewportSize({ width: 1440, height: 900 });
      await operator.goto('/settings');
      const threshold = page().getByLabel('Cache threshold', { exact: true });
      await threshold.fill('1.5');
      await page().getByText('Mend the marked value first.').waitFor();
      expect(await page().getByRole('button', { name: /^Review/ }).isDisabled()).toBe(true);
      await threshold.fill('0.5');
      await page().getByRole('button', { name: 'Review 1 change' }).click();
      const dialog = operator.dialog('Change 1 setting?');
      expect(await dialog.innerText()).toMatch(/cache-threshold\s+0\.3\s+0\.5/);
      expect(await dialog.getByLabel('Command').innerText()).toContain(`curl -X PATCH '${operator.origin}/api/v1/config'`);
      await dialog.getByRole('button', { name: 'Change', exact: true }).click();
      await page().getByText('1 setting changed.').waitFor();
      await operator.goto('/events?type=config');
      await page().getByRole('button', { name: 'operator changed cache-threshold from 0.3 to 0.5.' }).waitFor();
      operator.assertNoComplaint();
    });
  });
});
