import { randomUUID } from 'node:crypto';

import { type Browser, type Locator } from 'playwright-core';

import { type EngineProcess } from '../support/engine-process.js';
import { eventually } from '../support/eventually.js';
import { type RouterProcess } from '../support/router-process.js';
import { openChromium } from './support/chromium.js';
import { BrowserCluster } from './support/cluster.js';
import { inEveryLook } from './support/pictures.js';
import { Stream } from './support/stream.js';
import { Viewer } from './support/viewer.js';

/** `1.2 s` or `340 ms` in milliseconds. */
function msOf(words: string): number {
  const [, value = '', unit] = /^([\d.]+) (ms|s)/.exec(words) ?? [];
  return Number(value) * (unit === 's' ? 1000 : 1);
}

describe('the receipt of a request', () => {
  const started = new BrowserCluster();
  const decodes: EngineProcess[] = [];
  let browser: Browser;
  let router: RouterProcess;
  let operator: Viewer;

  beforeAll(async () => {
    browser = started.add(await openChromium(), (opened) => opened.close());
    router = await started.durableRouter();
    await started.nixl(router, 'prefill', ['--prefill-us-per-token', '500']);
    for (let at = 0; at < 2; at += 1) decodes.push(await started.nixl(router, 'decode', ['--decode-ms-per-token', '20']));
    await router.admin.selectable({ prefill: 1, decode: 2 });
    operator = await Viewer.open(browser, router);
  });
  afterAll(async () => await started.end());

  const region = (name: string | RegExp): Locator => operator.page.getByRole('region', { name });
  const steps = async (): Promise<readonly (readonly [string, string])[]> =>
    (await region('Where the time went').getByRole('listitem').allInnerTexts()).map((step) => {
      const [label = '', time = ''] = step.split('\n').filter((line) => line.trim() !== '');
      return [label, time] as const;
    });

  it('shows the phases of a stream as they pass, and why its workers were chosen from whom', async () => {
    const prompt = 'Which track is free, and who has set switch four? '.repeat(60);
    await operator.goto('/requests');
    const stream = await Stream.begin(router, { tokens: 250, prompt });
    await operator.page.getByRole('link', { name: stream.requestId }).click();
    await operator.page.getByText('still running', { exact: true }).first().waitFor();
    const running = async (): Promise<readonly [string, string]> => (await steps()).at(-1)!;
    await eventually('decode', async () => (await running())[0] === 'Decode');
    const [, before] = await running();
    expect(before).toMatch(/ …$/);
    await eventually('a growing step', async () => msOf((await running())[1]) > msOf(before));
    expect((await steps()).slice(0, 2).map(([label]) => label)).toEqual(['Queue', 'Prefill']);

    expect(await stream.end()).toContain('data: [DONE]');
    const receipt = await router.admin.receipt(stream.requestId);
    await eventually('its end', async () => (await steps()).map(([label]) => label).join() === 'Queue,Prefill,Hand-off,First token,Decode');
    await inEveryLook(operator, 'receipt', async () => {
      await operator.page.getByRole('main').getByText('OK', { exact: true }).first().waitFor();
      const shown = Object.fromEntries(await steps());
      const { queuedMs, prefillMs, handoffMs, firstByteMs, totalMs } = receipt.timings;
      const expected = { Queue: queuedMs, Prefill: prefillMs, 'Hand-off': handoffMs, 'First token': firstByteMs - queuedMs - prefillMs - handoffMs, Decode: totalMs - firstByteMs };
      for (const [label, ms] of Object.entries(expected)) expect([label, Math.abs(msOf(shown[label]!) - ms) <= Math.max(1, ms * 0.06)]).toEqual([label, true]);
      expect(prefillMs).toBeGreaterThan(100);

      for (const attempt of receipt.attempts) {
        const card = region(new RegExp(`: ${attempt.phase} on ${attempt.chosen}$`, 'i'));
        const table = card.getByRole('table');
        expect(await table.locator('tbody tr').count()).toBe(attempt.candidates.length);
        for (const { id, load, pressure } of attempt.candidates) {
          const row = await table.getByRole('row', { name: new RegExp(`^${id}\\b`) }).innerText();
          expect(row).toMatch(new RegExp(`\\s${String(load)}\\s+${String(pressure)}\\s`));
          expect(row).toContain(id === attempt.chosen ? 'chosen' : '');
        }
        expect(await card.locator('p').first().innerText()).toContain(attempt.chosen);
      }
      expect(await region('Tokens').innerText()).toMatch(new RegExp(`Prompt\\s+${receipt.usage.promptTokens.toLocaleString('en')}\\s+Completion\\s+250`));
      expect(await region('The same by command').innerText()).toContain(`/api/v1/requests/${stream.requestId}`);
    });
    await operator.page.getByRole('link', { name: receipt.decodeId }).first().click();
    await operator.dialog(receipt.decodeId).getByRole('region', { name: 'Facts' }).waitFor();
    operator.assertNoComplaint();
  });

  it('shows every attempt of a request that was placed again', async () => {
    await decodes[0]!.fault({ kind: 'status', status: 500, times: 1, phase: 'decode' });
    const requestId = await eventually('a request that met the fault', async () => {
      const id = `again-${randomUUID().slice(0, 8)}`;
      expect((await router.post('/v1/completions', { model: 'sim-model', prompt: 'again', max_tokens: 3 }, { headers: { 'x-request-id': id } })).status).toBe(200);
      return (await router.admin.receipt(id)).attempts.length > 2 ? id : null;
    });
    const { attempts } = await router.admin.receipt(requestId);
    await operator.goto(`/requests/${requestId}`);
    await inEveryLook(operator, 'receipt-retried', async () => {
      const placement = region('Placement');
      await placement.getByRole('heading', { level: 3 }).first().waitFor();
      expect(await placement.getByRole('heading', { level: 3 }).count()).toBe(attempts.length);
      expect(await placement.innerText()).toMatch(/500/);
      expect((await steps()).map(([label]) => label)).toContain('Retries, first token');
    });
  });

  it('says that it is forgotten when it is', async () => {
    operator.expecting(/status of 404/);
    await operator.goto('/requests/never-came');
    await operator.page.getByText('This request is not known any more').waitFor();
    operator.assertNoComplaint();
  });
});
