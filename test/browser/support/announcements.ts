import { type Page } from 'playwright-core';

declare global {
  interface Window {
    announced?: string[];
  }
}

/** Keeps what the page tells screen readers of state changes from now on. */
export async function listen(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.locator('[aria-live=polite]').waitFor({ state: 'attached' });
  await page.evaluate(() => {
    const region = document.querySelector('[aria-live=polite]');
    if (region === null) throw new Error('the page has no polite live region');
    const announced: string[] = (window.announced = []);
    new MutationObserver(() => announced.push(region.textContent)).observe(region, { childList: true, characterData: true, subtree: true });
  });
  return async () => await page.evaluate(() => window.announced ?? []);
}
