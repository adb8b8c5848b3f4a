import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { root } from '../../support/child.js';
import { axeFindings } from './axe.js';
import { type Viewer } from './viewer.js';

/** Where a person looks at them; no part of the repository. */
export const pictureFolder = join(root, 'tmp/screenshots');
mkdirSync(pictureFolder, { recursive: true });

export const widths = [1440, 1024, 390] as const;
export const schemes = ['light', 'dark'] as const;
const heights = { 1440: 900, 1024: 768, 390: 844 } as const;

export interface Look {
  readonly width: (typeof widths)[number];
  readonly scheme: (typeof schemes)[number];
}

/**
 * Takes a picture of the page as it is, at each width and in both themes, after `check` has looked at its content
 * there. Fails when the page can be scrolled sideways, when axe-core finds anything, or on any complaint.
 */
export async function inEveryLook(viewer: Viewer, name: string, check: (look: Look) => Promise<void>): Promise<void> {
  const { page } = viewer;
  const faults: string[] = [];
  for (const scheme of schemes) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of widths) {
      await page.setViewportSize({ width, height: heights[width] });
      const look = `${name}-${String(width)}-${scheme}`;
      await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor();
      await check({ width, scheme });
      // What lies over the page does not grow with it.
      const fullPage = width === 390 && (await page.getByRole('dialog').count()) === 0;
      await page.screenshot({ path: join(pictureFolder, `${look}.png`), fullPage });
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (sideways > 0) faults.push(`${look}: can be scrolled ${String(sideways)} px sideways`);
      // The width between has no element that these two lack.
      if (width !== 1024) faults.push(...(await axeFindings(page)).map((finding) => `${look}: ${finding}`));
    }
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  viewer.assertNoComplaint();
}
