import { type Browser } from 'playwright-core';

import { type EngineProcess } from '../support/engine-process.js';
import { eventually } from '../support/eventually.js';
import { Pinger } from '../support/pinger.js';
import { type RouterProcess } from '../support/router-process.js';
import { openChromium } from './support/chromium.js';
import { BrowserCluster } from './support/cluster.js';
import { bestOf, momentOf, noteClicks } from './support/moments.js';
import { Stream } from './support/stream.js';
import { Viewer } from './support/viewer.js';

const pingMs = 500;
/** A heartbeat is late beyond 1.5 of its worker's median interval. */
const lateMs = 1.5 * pingMs;

describe('the live picture', () => {
  const started = new BrowserCluster();
  let browser: Browser;
  let router: RouterProcess;
  let first: Viewer;
  let second: Viewer;
  let pinger: Pinger;
  let decode: EngineProcess;

  beforeAll(async () => {
    browser = started.add(await openChromium(), (opened) => opened.close());
    router = await started.durableRouter();
    await started.nixl(router, 'prefill');
    decode = await started.engine(['--role', 'decode', '--connector', 'nixl', '--output-tokens', '100000', '--decode-ms-per-token', '20']);
    pinger = started.add(new Pinger(router.discovery), (made) => made.close());
    await ping('first process');
    await router.admin.selectable({ prefill: 1, decode: 1 });
    [first, second] = [await Viewer.open(browser, router), await Viewer.open(browser, router, { role: 'viewer' })];
  });
  afterAll(async () => await started.end());
  beforeEach(async () => {
    for (const viewer of [first, second]) await viewer.goto('/workers');
  });
  afterEach(() => {
    for (const viewer of [first, second]) viewer.assertNoComplaint();
  });

  async function ping(instance: string): Promise<void> {
    await pinger.keepPinging({ type: 'D', http_address: decode.address, zmq_address: '127.0.0.1:22001', connector: 'nixl', instance }, pingMs);
  }
  const decodeId = async (): Promise<string> => (await router.admin.worker('decode', decode.url))!.id;
  const cell = (id: string): string => `[role=row][data-worker="${id}"]`;

  it('shows a drain on a second viewer’s screen within half a second of the click', async () => {
    const id = await decodeId();
    const stream = await Stream.begin(router);
    await second.row(id).getByText('Ready', { exact: true }).waitFor();
    const clicked = await noteClicks(first.page);
    first.expecting(/status of 409/);
    const tookMs = await bestOf(3, 500, async () => {
      await first.row(id).focus();
      await first.page.keyboard.press('d');
      const dialog = first.dialog(`Drain ${id}`);
      await dialog.getByRole('button', { name: `Drain ${id}` }).click();
      const anyway = dialog.getByRole('button', { name: 'Drain anyway' });
      await anyway.waitFor();
      const seen = await momentOf(second.page, cell(id), 'Draining');
      await anyway.click();
      const seenAtMs = await seen();
      const spanMs = seenAtMs - (await clicked());
      await first.row(id).getByText('Draining', { exact: true }).waitFor();
      await router.admin.call('POST', `/api/v1/workers/${id}/undrain`, {});
      for (const viewer of [first, second]) await viewer.row(id).getByText('Ready', { exact: true }).waitFor();
      return spanMs;
    });
    stream.leave();
    expect(tookMs).toBeGreaterThanOrEqual(0);
    expect(tookMs).toBeLessThanOrEqual(500);
  });

  it('turns a row amber within a second of its heartbeat being late', async () => {
    const id = await decodeId();
    await second.goto('/');
    const spans: number[] = [];
    const tookMs = await bestOf(3, 1_000, async () => {
      await first.row(id).getByText('Ready', { exact: true }).waitFor();
      const seen = await momentOf(first.page, cell(id), 'Late');
      pinger.silence();
      const seenAtMs = await seen();
      const { lastHeartbeatAt, heartbeat } = await router.admin.get(`/api/v1/workers/${id}`);
      expect(heartbeat).toBe('late');
      expect(await first.row(id).getByText('Late', { exact: true }).evaluate((badge) => getComputedStyle(badge).color)).toBe(
        await first.page.evaluate(() => {
          const sample = document.body.appendChild(document.createElement('i'));
          sample.style.color = 'var(--st-late)';
          const { color } = getComputedStyle(sample);
          sample.remove();
          return color;
        }),
      );
      await second.page.getByRole('link', { name: new RegExp(`^${id} is late: last heartbeat \\d+\\.\\d s ago\\.$`) }).waitFor();
      await ping('first process');
      const spanMs = seenAtMs - (Date.parse(lastHeartbeatAt) + lateMs);
      spans.push(spanMs);
      return spanMs;
    });
    await first.row(id).getByText('Ready', { exact: true }).waitFor();
    expect(tookMs).toBeLessThanOrEqual(1_000);
    // Not before it is late. Intervals are measured in ticks of the listening clock, 250 ms each, and lateness is 1.5 of them.
    expect(Math.min(...spans)).toBeGreaterThan(-400);
  });

  it('shows a restarted engine under its new generation while the old one’s stream finishes', async () => {
    const old = await decodeId();
    const stream = await Stream.begin(router, { tokens: 200 });
    await eventually('its load', async () => (await router.admin.worker('decode', decode.url))!.load === 1);
    await ping('second process');
    const fresh = await eventually('a new generation', async () => {
      const id = await decodeId();
      return id === old ? null : id;
    });
    await first.row(fresh).getByText('Ready', { exact: true }).waitFor();
    await first.row(old).waitFor({ state: 'detached' });
    const gone = first.page.getByRole('region', { name: 'Gone, with work left' });
    await gone.getByText(old).waitFor();
    expect(await gone.innerText()).toMatch(/Gone[\s\S]*replaced .*, 1 request left/);

    await first.row(fresh).click();
    const lifetimes = first.dialog(fresh).getByRole('region', { name: 'Lifetimes' });
    const rows = lifetimes.getByRole('row');
    const [newGeneration = '', oldGeneration = ''] = [fresh, old].map((id) => id.split('-')[1]);
    await lifetimes.getByText(/replaced after .*, 1 still in flight/).waitFor();
    expect(await rows.nth(1).innerText()).toMatch(new RegExp(`^${newGeneration}\\s.*here\\s+0$`));
    expect(await rows.nth(2).innerText()).toMatch(new RegExp(`^${oldGeneration}\\s.*replaced after .*, 1 still in flight\\s+\\d+$`));
    expect(await lifetimes.locator('svg rect').count()).toBe(await rows.count() - 1);
    expect(await first.dialog(fresh).getByRole('region', { name: 'Explain this load' }).innerText()).toContain('Nothing is on it.');
    expect(await router.admin.get(`/api/v1/workers/${fresh}`)).toMatchObject({ load: 0, processed: 0 });

    await second.goto('/');
    await second.page.getByText(`${old} returned as ${fresh} after a restart`).waitFor();

    expect(await stream.end()).toMatch(/data: \[DONE\]\n\n$/);
    await lifetimes.getByText(/still in flight/).waitFor({ state: 'detached' });
    expect(await rows.nth(2).innerText()).toMatch(/replaced after/);
    await first.dialog(fresh).getByRole('button', { name: 'Close' }).click();
    await gone.waitFor({ state: 'detached' });
    expect(await router.admin.get(`/api/v1/workers/${fresh}`)).toMatchObject({ load: 0, processed: 0 });
  });
});
