import { type Locator, type Page } from 'playwright-core';

const mostSteps = 60;

/** Presses Tab until `target` has the focus, as somebody without a mouse would. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let step = 0; step < mostSteps; step += 1) {
    if (await hasFocus(target)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${String(mostSteps)} steps of Tab do not lead to ${String(target)}`);
}

export async function hasFocus(target: Locator): Promise<boolean> {
  return await target.evaluate((element) => element === document.activeElement).catch(() => false);
}
