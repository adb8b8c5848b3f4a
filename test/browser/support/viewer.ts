import { type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';

import { operatorToken, type RouterProcess, viewerToken } from '../../support/router-process.js';

export interface ViewerOptions {
  readonly role?: 'operator' | 'viewer' | 'nobody';
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
}

const tokens = { operator: operatorToken, viewer: viewerToken };

/** Somebody with a browser of their own; everything the page should not have done is kept as a complaint. */
export class Viewer {
  /** Console errors, uncaught exceptions, breaches of the Content-Security-Policy, requests to other origins. */
  readonly complaints: string[] = [];
  readonly origin: string;
  #expected: readonly RegExp[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    origin: string,
  ) {
    this.origin = origin;
    page.on('pageerror', (error) => this.#complain(`uncaught: ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.#complain(`console ${message.type()}: ${message.text()} (${message.location().url})`);
    });
    page.on('request', (request) => this.#checkOrigin(request.url()));
    page.on('websocket', (socket) => this.#checkOrigin(socket.url()));
  }

  /** A page at `/`, logged in beforehand unless it is nobody's. */
  static async open(browser: Browser, router: RouterProcess, { role = 'operator', width = 1440, height = 900, scheme = 'light' }: ViewerOptions = {}): Promise<Viewer> {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
    context.setDefaultTimeout(10_000);
    const origin = `http://${router.adminAddress}`;
    if (role !== 'nobody') await context.request.post(`${origin}/api/v1/session`, { data: { token: tokens[role] } });
    const page = await context.newPage();
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
        console.error(`Content-Security-Policy: ${violatedDirective} ${blockedURI}`);
      });
    });
    const viewer = new Viewer(context, page, origin);
    if (role !== 'nobody') await viewer.goto('/');
    return viewer;
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(`${this.origin}${path}`);
  }

  /** Complaints that match are part of the scene until the next `assertNoComplaint`. */
  expecting(...patterns: readonly RegExp[]): void {
    this.#expected = patterns;
  }

  /** A worker's row in the table of the workers screen. */
  row(workerId: string): Locator {
    return this.page.locator(`[role=row][data-worker="${workerId}"]`);
  }

  /** The drawer or dialog of that title. */
  dialog(name: string | RegExp): Locator {
    return this.page.getByRole('dialog', { name });
  }

  /** Fails on anything the page should not have done since the last time. */
  assertNoComplaint(): void {
    this.#expected = [];
    const complaints = this.complaints.splice(0);
    if (complaints.length > 0) throw new Error(complaints.join('\n'));
  }

  async close(): Promise<void> {
    await this.context.close();
  }

  #checkOrigin(url: string): void {
    const { protocol, host } = new URL(url);
    if (protocol !== 'data:' && protocol !== 'blob:' && host !== new URL(this.origin).host) this.#complain(`a request to ${url}`);
  }

  #complain(what: string): void {
    if (!this.#expected.some((pattern) => pattern.test(what))) this.complaints.push(what);
  }
}
