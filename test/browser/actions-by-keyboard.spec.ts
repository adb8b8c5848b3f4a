import { type Browser } from 'playwright-core';

import { eventually } from '../support/eventually.js';
import { type RouterProcess } from '../support/router-process.js';
import { listen } from './support/announcements.js';
import { openChromium } from './support/chromium.js';
import { BrowserCluster } from './support/cluster.js';
import { hasFocus, tabTo } from './support/keyboard.js';
import { Stream } from './support/stream.js';
import { Viewer } from './support/viewer.js';

describe('actions by keyboard alone', () => {
  const started = new BrowserCluster();
  let browser: Browser;
  let router: RouterProcess;
  let operator: Viewer;

  beforeAll(async () => {
    browser = started.add(await openChromium(), (opened) => opened.close());
    router = await started.durableRouter();
    for (const role of ['prefill', 'decode', 'decode'] as const) await started.nixl(router, role, ['--decode-ms-per-token', '20']);
    await router.admin.selectable({ prefill: 1, decode: 2 });
    operator = await Viewer.open(browser, router);
  });
  afterAll(async () => await started.end());
  beforeEach(async () => await operator.goto('/workers'));
  afterEach(() => operator.assertNoComplaint());

  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await operator.page.keyboard.press(key);
  };
  const type = async (words: string): Promise<void> => await operator.page.keyboard.type(words);
  const focused = async (what: string, locator: ReturnType<Viewer['row']>): Promise<void> => {
    await eventually(`the focus on ${what}`, async () => await hasFocus(locator));
  };
  const decodes = async (): Promise<string[]> => (await router.admin.workers()).filter(({ role }) => role === 'decode').map(({ id }) => id);

  /** Filters for it and lets the focus go from the filter to its row. */
  async function reach(workerId: string): Promise<void> {
    await operator.row(workerId).waitFor();
    await press('/');
    await focused('the filter', operator.page.getByLabel('Filter workers'));
    await type(workerId);
    await press('Enter');
    await focused('the row', operator.row(workerId));
  }

  it('moves through the rows, opens one, and lets the focus return to it', async () => {
    const [first = '', second = ''] = await decodes();
    await operator.row(first).waitFor();
    await press('/');
    await type('decode');
    await press('Enter');
    await focused('the first row', operator.row(first));
    await press('j');
    await focused('the second row', operator.row(second));
    await press('k');
    await focused('the first row again', operator.row(first));
    await press('Enter');
    await operator.dialog(first).getByRole('button', { name: 'Drain…' }).waitFor();
    await press('Escape');
    await focused('the row again', operator.row(first));
    await press('?');
    const keys = operator.dialog('Keys');
    await keys.waitFor();
    expect(await keys.innerText()).toMatch(/Drain the row[\s\S]*Esc/);
    await press('Escape');
    await keys.waitFor({ state: 'detached' });
    await focused('the row after the help', operator.row(first));
  });

  it('drains to drained and undrains; every change of state is announced, and the focus stays with the row', async () => {
    const stream = await Stream.begin(router);
    const id = await eventually('the busy worker', async () => (await router.admin.workers()).find(({ role, load }) => role === 'decode' && load === 1)?.id);
    const row = operator.row(id);
    const announced = await listen(operator.page);
    await reach(id);
    await press('d');
    const dialog = operator.dialog(`Drain ${id}`);
    await focused('the reason', dialog.getByLabel('Reason'));
    await type('kernel update');
    await press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await row.getByText('Draining', { exact: true }).waitFor();
    await focused('the row', row);

    stream.leave();
    await row.getByText('safe to stop').waitFor({ timeout: 15_000 });
    await focused('the row, drained', row);
    expect(await router.admin.get(`/api/v1/workers/${id}`)).toMatchObject({ adminState: 'drained', safeToStop: true, drain: { reason: 'kernel update' } });

    await press('Enter');
    await tabTo(operator.page, operator.dialog(id).getByRole('button', { name: 'Undrain' }));
    await press('Enter');
    await operator.dialog(id).getByRole('button', { name: 'Drain…' }).waitFor();
    await press('Escape');
    await focused('the row, undrained', row);
    await row.getByText('Ready', { exact: true }).waitFor();
    expect(await announced()).toEqual([`${id}: Draining`, `${id}: Drained`, `${id}: Ready`]);
  });

  it('evicts and readmits', async () => {
    const [, id = ''] = await decodes();
    const { endpoint } = await router.admin.get(`/api/v1/workers/${id}`);
    operator.expecting(/status of 409/);
    const announced = await listen(operator.page);
    await reach(id);
    await press('Enter');
    await tabTo(operator.page, operator.dialog(id).getByRole('button', { name: 'Evict…' }));
    await press('Enter');
    const dialog = operator.dialog(`Evict ${id}`);
    await focused('the name', dialog.getByLabel('Worker'));
    await press('Enter');
    expect((await router.admin.get('/api/v1/quarantine')).items).toEqual([]);
    await type(id);
    await press('Tab');
    await type('smells');
    await press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await focused('the way back', operator.page.getByRole('button', { name: 'Back to the workers' }));
    await press('Enter');
    // Only the other one is left, and the filter that hid it named the one that is gone.
    await operator.page.getByRole('button', { name: 'Show all' }).waitFor();

    const readmit = operator.page.getByRole('region', { name: 'Quarantined' }).getByRole('button', { name: 'Readmit' });
    await tabTo(operator.page, readmit);
    await press('Enter');
    const back = await eventually('its return', async () => await router.admin.worker('decode', endpoint));
    expect(back.id).not.toBe(id);
    await tabTo(operator.page, operator.page.getByRole('button', { name: 'Show all' }));
    await press('Enter');
    await operator.row(back.id).getByText('Ready', { exact: true }).waitFor();
    await eventually('the announcements', async () => (await announced()).join().includes(`${back.id} joined`));
    expect((await announced()).join()).toContain(`${id} left`);
  });

  it('overrides the refusal to drain the last worker, and keeps it when told to', async () => {
    const [last = '', ...others] = await decodes();
    for (const id of others) await router.admin.call('POST', `/api/v1/workers/${id}/drain`, {});
    operator.expecting(/status of 409/);
    await reach(last);
    const dialog = operator.dialog(`Drain ${last}`);
    const ask = async (): Promise<void> => {
      await press('d');
      await focused('the reason', dialog.getByLabel('Reason'));
      await press('Enter');
      await focused('the safe answer', dialog.getByRole('button', { name: 'Keep it in service' }));
    };
    await ask();
    await press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await focused('the row', operator.row(last));
    await ask();
    await tabTo(operator.page, dialog.getByRole('button', { name: 'Drain anyway' }));
    await press('Enter');
    await operator.row(last).getByText('safe to stop').waitFor();
    await focused('the row, drained', operator.row(last));
    for (const id of [last, ...others]) await router.admin.call('POST', `/api/v1/workers/${id}/undrain`, {});
    await router.admin.selectable({ decode: 2 });
  });

  it('selects rows and drains the selection', async () => {
    const [first = '', second = ''] = await decodes();
    await reach(first);
    await press('x');
    await operator.page.getByText('1 worker selected').waitFor();
    await press('/', 'Control+A');
    await type(second);
    await press('Enter');
    await focused('the second row', operator.row(second));
    await press('x');
    await operator.page.getByText('2 workers selected').waitFor();
    await press('d');
    await operator.dialog('Drain 2 workers').getByText('0 of 2 decode workers remain selectable.').waitFor();
    await press('Escape');
    await operator.dialog('Drain 2 workers').waitFor({ state: 'detached' });
    await focused('the second row', operator.row(second));
    expect((await router.admin.workers()).every(({ adminState }) => adminState === 'ready')).toBe(true);
  });
});
