import { type Browser } from 'playwright-core';

import { eventually } from '../support/eventually.js';
import { type RouterProcess } from '../support/router-process.js';
import { openChromium } from './support/chromium.js';
import { BrowserCluster } from './support/cluster.js';
import { inEveryLook } from './support/pictures.js';
import { Stream } from './support/stream.js';
import { Viewer } from './support/viewer.js';

describe('actions by mouse', () => {
  const started = new BrowserCluster();
  let browser: Browser;
  let router: RouterProcess;
  let operator: Viewer;

  beforeAll(async () => {
    browser = started.add(await openChromium(), (opened) => opened.close());
    router = await started.durableRouter();
    for (const role of ['prefill', 'prefill', 'decode', 'decode', 'decode'] as const) await started.nixl(router, role, ['--decode-ms-per-token', '20']);
    await router.admin.selectable({ prefill: 2, decode: 3 });
    operator = await Viewer.open(browser, router);
  });
  afterAll(async () => await started.end());
  beforeEach(async () => await operator.goto('/workers'));
  afterEach(() => operator.assertNoComplaint());

  const idsOf = async (role: string): Promise<string[]> => (await router.admin.workers()).filter((worker) => worker.role === role).map(({ id }) => id);
  const api = async (id: string): Promise<any> => await router.admin.get(`/api/v1/workers/${id}`);
  const button = (name: string | RegExp) => operator.page.getByRole('button', { name, exact: typeof name === 'string' });
  const text = (words: string | RegExp) => operator.page.getByText(words);

  it('drains with the consequences said first, counts down, claims safety only after the router does, and undrains', async () => {
    const stream = await Stream.begin(router);
    const id = await eventually('the busy worker', async () => (await router.admin.workers()).find(({ role, load }) => role === 'decode' && load === 1)?.id);

    await operator.row(id).click();
    const drawer = operator.dialog(id);
    await drawer.getByText(stream.requestId).waitFor();
    await drawer.getByRole('button', { name: 'Drain…' }).click();
    const dialog = operator.dialog(`Drain ${id}`);
    await dialog.getByText('1 request in flight will finish first.').waitFor();
    await dialog.getByText('2 of 3 decode workers remain selectable.').waitFor();
    await dialog.getByLabel('Reason').fill('firmware');
    await dialog.getByText('As curl').click();
    const curl = await dialog.getByLabel('Command').innerText();
    expect(curl).toContain(`curl -X POST '${operator.origin}/api/v1/workers/${id}/drain'`);
    expect(curl).toContain('Authorization: Bearer $SWITCHYARD_TOKEN');
    expect(JSON.parse(/-d '(.*)'/.exec(curl)![1]!)).toMatchObject({ reason: 'firmware', until: 'restart' });
    await dialog.getByRole('button', { name: `Drain ${id}` }).click();

    await drawer.getByText(/^1 in flight · oldest /).waitFor();
    await drawer.getByText(/The drain was asked for by operator .*“firmware”/).waitFor();
    await drawer.getByRole('button', { name: 'Close' }).click();
    await operator.row(id).getByText('Draining', { exact: true }).waitFor();
    expect(await operator.row(id).innerText()).toMatch(/1 in flight · oldest/);
    expect(await operator.row(id).getByText('safe to stop').count()).toBe(0);
    expect(await api(id)).toMatchObject({ adminState: 'draining', safeToStop: false });

    stream.leave();
    await operator.row(id).getByText('safe to stop').waitFor({ timeout: 15_000 });
    expect(await operator.row(id).innerText()).toMatch(/Drained\s+safe to stop/);
    expect(await api(id)).toMatchObject({ adminState: 'drained', safeToStop: true });

    await operator.row(id).click();
    await drawer.getByRole('button', { name: 'Undrain' }).click();
    await drawer.getByRole('button', { name: 'Drain…' }).waitFor();
    await drawer.getByRole('button', { name: 'Close' }).click();
    await operator.row(id).getByText('Ready', { exact: true }).waitFor();
    expect(await api(id)).toMatchObject({ adminState: 'ready', drain: null, selectable: true });
  });

  it('evicts only when the name is typed, shows the quarantine, and readmits', async () => {
    const [id = ''] = await idsOf('prefill');
    const { endpoint } = await api(id);
    // Its drawer asks for a worker that is no more.
    operator.expecting(/status of 409/);
    await operator.row(id).click();
    await operator.dialog(id).getByRole('button', { name: 'Evict…' }).click();
    const dialog = operator.dialog(`Evict ${id}`);
    await dialog.getByText('1 of 2 prefill workers remains selectable.').waitFor();
    const evict = dialog.getByRole('button', { name: `Evict ${id}` });
    await dialog.getByLabel('Reason').fill('bad memory');
    expect(await evict.isDisabled()).toBe(true);
    await dialog.getByLabel('Worker').fill('prefill-0');
    expect(await evict.isDisabled()).toBe(true);
    await dialog.getByText(`Type ${id} to confirm.`).last().waitFor();
    await dialog.getByLabel('Worker').fill(id);
    await dialog.getByText('As curl').click();
    await inEveryLook(operator, 'evict-dialog', async () => {
      expect(await dialog.getByLabel('Command').innerText()).toContain(`/api/v1/workers/${id}/evict`);
    });
    operator.expecting(/status of 409/);
    await evict.click();

    const quarantined = operator.page.getByRole('region', { name: 'Quarantined' });
    await quarantined.getByText('“bad memory” by operator').waitFor();
    expect(await quarantined.innerText()).toMatch(new RegExp(`prefill ${endpoint.replace('http://', '')}[\\s\\S]*[45] min( \\d+ s)? left`));
    await operator.dialog(id).getByText(`${id} has left its pool`).waitFor();
    await operator.dialog(id).getByRole('button', { name: 'Back to the workers' }).click();
    await operator.row(id).waitFor({ state: 'detached' });
    expect((await router.admin.get('/api/v1/quarantine')).items).toMatchObject([{ role: 'prefill', endpoint, reason: 'bad memory', by: 'operator' }]);

    await quarantined.getByRole('button', { name: 'Readmit' }).click();
    await quarantined.waitFor({ state: 'detached' });
    const back = await eventually('its return', async () => await router.admin.worker('prefill', endpoint));
    expect(back.id).not.toBe(id);
    await operator.row(back.id).getByText('Ready', { exact: true }).waitFor();
  });

  it('says what would stop working before the last worker of a pool goes, and obeys all the same when told to', async () => {
    const [last = '', ...others] = await idsOf('decode');
    for (const id of others) await router.admin.call('POST', `/api/v1/workers/${id}/drain`, {});
    operator.expecting(/status of 409/);
    await operator.row(last).click();
    const dialog = operator.dialog(`Drain ${last}`);
    const ask = async (): Promise<void> => {
      await operator.dialog(last).getByRole('button', { name: 'Drain…' }).click();
      await dialog.getByText('0 of 3 decode workers remain selectable.').waitFor();
      await dialog.getByRole('button', { name: `Drain ${last}` }).click();
      await dialog.getByText(`Without ${last} this would stop working:`).waitFor();
    };
    await ask();
    await dialog.getByText(new RegExp(`${last}: requests for sim-model would get 503; it is the last selectable decode worker of group`)).waitFor();
    await dialog.getByText('As curl').click();
    await inEveryLook(operator, 'last-worker-dialog', async () => {
      await dialog.getByText('Instead, start another decode worker first.').waitFor();
      expect(await dialog.getByLabel('Command').innerText()).toContain('"force":true');
    });
    operator.expecting(/status of 409/);
    await dialog.getByRole('button', { name: 'Keep it in service' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await api(last)).toMatchObject({ adminState: 'ready' });

    await ask();
    await dialog.getByRole('button', { name: 'Drain anyway' }).click();
    await operator.dialog(last).getByText('safe to stop', { exact: true }).waitFor();
    expect(await api(last)).toMatchObject({ adminState: 'drained' });
    await operator.goto('/');
    await text(/^Clients get 503/).waitFor();
    for (const id of [last, ...others]) await router.admin.call('POST', `/api/v1/workers/${id}/undrain`, {});
    await text('The cluster serves').waitFor();
  });

  it('drains and undrains a selection, and refuses the rest of one that would empty a pool', async () => {
    const decodes = await idsOf('decode');
    const [first = '', second = '', third = ''] = decodes;
    for (const id of [first, second]) await operator.row(id).getByRole('checkbox').check();
    const bar = operator.page.getByRole('toolbar', { name: 'Selected workers' });
    await bar.getByText('2 workers selected').waitFor();
    const undrain = bar.getByRole('button', { name: 'Undrain' });
    expect(await undrain.getAttribute('aria-disabled')).toBe('true');
    const why = await undrain.getAttribute('aria-describedby');
    expect(await operator.page.locator(`[id="${why!}"]`).textContent()).toBe('None of the selected workers is draining or drained.');

    await bar.getByRole('button', { name: 'Drain…' }).click();
    const two = operator.dialog('Drain 2 workers');
    await two.getByText('1 of 3 decode workers remains selectable.').waitFor();
    await two.getByText('As curl').click();
    for (const id of [first, second]) expect(await two.getByLabel('Command').innerText()).toContain(`/api/v1/workers/${id}/drain`);
    await two.getByRole('button', { name: 'Drain 2 workers' }).click();
    for (const id of [first, second]) await operator.row(id).getByText('safe to stop').waitFor();
    await undrain.click();
    for (const id of [first, second]) await operator.row(id).getByText('Ready', { exact: true }).waitFor();

    operator.expecting(/status of 409/);
    await operator.row(third).getByRole('checkbox').check();
    await bar.getByRole('button', { name: 'Drain…' }).click();
    const three = operator.dialog('Drain 3 workers');
    await three.getByText('0 of 3 decode workers remain selectable.').waitFor();
    await three.getByRole('button', { name: 'Drain 3 workers' }).click();
    await three.getByText(/would get 503; it is the last selectable decode worker/).waitFor();
    await three.getByText('2 other workers are draining as asked.').waitFor();
    await three.getByRole('button', { name: 'Keep it in service' }).click();
    expect((await router.admin.workers()).filter(({ role, selectable }) => role === 'decode' && selectable)).toHaveLength(1);
    await undrain.click();
    await router.admin.selectable({ decode: 3 });
    await button('Clear').click();
    await bar.waitFor({ state: 'detached' });
  });
});
