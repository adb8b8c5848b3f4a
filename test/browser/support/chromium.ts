import { join } from 'node:path';

import { type Browser, chromium } from 'playwright-core';

import { root } from '../../support/child.js';

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** The system's Chromium, as set-up finds it. */
export async function openChromium(): Promise<Browser> {
  const { findChromium } = (await import(join(root, 'scripts/setup.mjs'))) as { readonly findChromium: () => string | undefined };
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('no Chromium on the PATH: install one, such as the Debian package chromium');
  return await chromium.launch({ executablePath, args: flags });
}
