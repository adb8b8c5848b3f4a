import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import { root } from '../support/child.js';
import { openChromium } from './support/chromium.js';
import { BrowserCluster } from './support/cluster.js';
import { bestOf } from './support/moments.js';
import { Viewer } from './support/viewer.js';

const budgetBytes = 250 * 1024;
const assets = join(root, 'dist/apps/dashboard/assets');

describe('how light the page is', () => {
  const started = new BrowserCluster();
  afterAll(async () => await started.end());

  it('has at most 250 KB of compressed script in all, and compressed copies that hold the same', async () => {
    const names = await readdir(assets);
    const scripts = await Promise.all(names.filter((name) => name.endsWith('.js')).map(async (name) => gzipSync(await readFile(join(assets, name)), { level: 9 }).length));
    expect(scripts.length).toBeGreaterThan(6);
    expect(scripts.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(budgetBytes);
    const copies = names.filter((name) => name.endsWith('.gz'));
    expect(copies.length).toBeGreaterThan(6);
    for (const copy of copies) {
      const original = await readFile(join(assets, copy.replace(/\.gz$/, '')));
      expect([copy, gunzipSync(await readFile(join(assets, copy))).equals(original)]).toEqual([copy, true]);
    }
  });

  it('paints data within a second of being asked for', async () => {
    const browser = started.add(await openChromium(), (opened) => opened.close());
    const router = await started.durableRouter();
    for (const role of ['prefill', 'decode'] as const) await started.nixl(router, role);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const tookMs = await bestOf(4, 1_000, async () => {
      const operator = await Viewer.open(browser, router, { role: 'nobody' });
      await operator.context.request.post(`${operator.origin}/api/v1/session`, { data: { token: router.admin.token } });
      const paintedMs = await operator.page.goto(operator.origin, { waitUntil: 'commit' }).then(
        async () =>
          await operator.page.evaluate(
            () =>
              new Promise<number>((resolve) => {
                const look = (): void => {
                  if (document.querySelector('h1')?.textContent.includes('The cluster serves') === true && document.querySelector('canvas') !== null) resolve(performance.now());
                  else requestAnimationFrame(look);
                };
                look();
              }),
          ),
      );
      operator.assertNoComplaint();
      await operator.close();
      return paintedMs;
    });
    expect(tookMs).toBeLessThanOrEqual(1_000);
  });
});
