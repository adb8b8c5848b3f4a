import { type Page } from 'playwright-core';

declare global {
  interface Window {
    clickedAtMs?: number;
  }
}

/** Unix ms at which the frame was drawn in which the element first held the words. Ask before, await after. */
export async function momentOf(page: Page, selector: string, words: string): Promise<() => Promise<number>> {
  const seen = page.evaluate(
    ([where, what]) =>
      new Promise<number>((resolve) => {
        const observer = new MutationObserver(look);
        function look(): void {
          if (document.querySelector(where)?.textContent.includes(what) !== true) return;
          observer.disconnect();
          requestAnimationFrame(() => resolve(Date.now()));
        }
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
        look();
      }),
    [selector, words] as const,
  );
  // A page that is closed meanwhile has told its failure elsewhere.
  seen.catch(() => undefined);
  // Commands of a page are done in order: after this one the observer is there.
  await page.evaluate('0');
  return async () => await seen;
}

/** Keeps the time of every click from now on. */
export async function noteClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    document.addEventListener('click', () => (window.clickedAtMs = Date.now()), { capture: true });
  });
  return async () => {
    const atMs = await page.evaluate(() => window.clickedAtMs);
    if (atMs === undefined) throw new Error('nothing was clicked');
    return atMs;
  };
}

/** The best of a few tries: what a figure promises is the product's, not that of whatever else the machine does. */
export async function bestOf(tries: number, goodMs: number, measure: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let at = 0; at < tries && best > goodMs; at += 1) best = Math.min(best, await measure());
  return best;
}
