import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { type Page } from 'playwright-core';

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe-core holds against the page as it is now, one line a finding. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // Through the debugger, which the page's Content-Security-Policy does not bind.
  await page.evaluate(`window.axe === undefined && (() => {${source}})()`);
  const violations = await page.evaluate<readonly Finding[]>('axe.run({ resultTypes: ["violations"] }).then((result) => result.violations)');
  return violations.flatMap(({ id, impact, nodes }) => nodes.slice(0, 3).map(({ html, failureSummary = '' }) => `${id} [${impact ?? '?'}] ${html.slice(0, 200)} ${failureSummary.replace(/\s+/g, ' ')}`));
}
