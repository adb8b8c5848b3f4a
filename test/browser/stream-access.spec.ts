import { once } from 'node:events';
import { createServer, request, type RequestOptions } from 'node:http';
import { type AddressInfo } from 'node:net';

import { type Browser } from 'playwright-core';
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';

import { operatorToken, type RouterProcess, viewerToken } from '../support/router-process.js';
import { openChromium } from './support/chromium.js';
import { BrowserCluster } from './support/cluster.js';
import { Viewer } from './support/viewer.js';

describe('who may follow the live stream', () => {
  const started = new BrowserCluster();
  const sockets: Socket[] = [];
  let router: RouterProcess;

  beforeAll(async () => {
    router = await started.durableRouter();
    await started.nixl(router, 'prefill');
    await router.admin.selectable({ prefill: 1 });
  });
  afterAll(async () => await started.end());
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.disconnect();
  });

  /** The first snapshot, or why there is none. */
  async function follow(options: Partial<ManagerOptions & SocketOptions>): Promise<unknown> {
    const socket = io(`http://${router.adminAddress}`, { path: '/live', transports: ['websocket'], reconnection: false, forceNew: true, ...options });
    sockets.push(socket);
    return await new Promise((resolve) => {
      socket.on('snapshot', ({ state }: { readonly state: { readonly workers: readonly { readonly role: string }[] } }) => resolve(state.workers.map(({ role }) => role)));
      socket.on('connect_error', ({ message }) => resolve(message));
      socket.on('disconnect', (reason) => resolve(reason));
    });
  }

  async function session(token: string): Promise<string> {
    const answer = await fetch(`http://${router.adminAddress}/api/v1/session`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token }) });
    return answer.headers.getSetCookie()[0]!.split(';')[0]!;
  }

  /** Status of a handshake as it is on the wire; 101 = it became a WebSocket. */
  async function handshake(path: string, headers: RequestOptions['headers']): Promise<number | undefined> {
    const [host, port] = router.adminAddress.split(':');
    const asked = request({ host, port, path, headers });
    asked.end();
    return await new Promise((resolve, reject) => {
      asked.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response.statusCode);
      });
      asked.on('error', reject);
    });
  }
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': Buffer.from('sixteen letters!').toString('base64') };
  const socketPath = '/live/?EIO=4&transport=websocket';

  it.each([
    ['a token of the operator', async () => ({ auth: { token: operatorToken } })],
    ['a token of a viewer', async () => ({ auth: { token: viewerToken } })],
    ['an Authorization header', async () => ({ extraHeaders: { authorization: `Bearer ${viewerToken}` } })],
    ['a session', async () => ({ extraHeaders: { cookie: await session(viewerToken) } })],
    ['a session and its own origin', async () => ({ extraHeaders: { cookie: await session(viewerToken), origin: `http://${router.adminAddress}` } })],
  ])('lets in by %s', async (_, credentials) => {
    expect(await follow(await credentials())).toEqual(['prefill']);
  });

  it.each([
    ['nothing', async () => ({})],
    ['a wrong token', async () => ({ auth: { token: 'wrong' } })],
    ['a wrong header', async () => ({ extraHeaders: { authorization: 'Bearer wrong' } })],
    ['a session that nobody opened', async () => ({ extraHeaders: { cookie: 'switchyard_session=made-up' } })],
    [
      'a session that was closed',
      async () => {
        const cookie = await session(operatorToken);
        await fetch(`http://${router.adminAddress}/api/v1/session`, { method: 'DELETE', headers: { cookie } });
        return { extraHeaders: { cookie } };
      },
    ],
    ['another origin', async () => ({ extraHeaders: { cookie: await session(operatorToken), origin: 'http://elsewhere.example' } })],
    ['another origin with a token', async () => ({ auth: { token: operatorToken }, extraHeaders: { origin: 'http://elsewhere.example' } })],
    ['polling', async () => ({ transports: ['polling'], extraHeaders: { authorization: `Bearer ${operatorToken}` } })],
  ])('keeps out who comes with %s', async (_, credentials) => {
    expect(await follow(await credentials())).toEqual(expect.stringMatching(/unauthorized|websocket error|xhr poll error|transport close/));
  });

  it('says so on the wire before it is a WebSocket', async () => {
    const cookie = await session(operatorToken);
    expect(await handshake(socketPath, { ...upgrade, cookie })).toBe(101);
    expect(await handshake(socketPath, { ...upgrade, cookie, origin: 'http://elsewhere.example' })).toBe(403);
    expect(await handshake(socketPath, { ...upgrade, cookie, origin: 'null' })).toBe(403);
    expect(await handshake(socketPath, { ...upgrade, cookie: 'switchyard_session=made-up' })).toBe(401);
    expect(await handshake(socketPath, { ...upgrade, authorization: 'Bearer wrong' })).toBe(401);
    expect(await handshake('/live/?EIO=4&transport=polling', { cookie })).toBe(400);
  });

  it('is closed to a page of another origin in the same browser, whose cookie comes along', async () => {
    const browser: Browser = started.add(await openChromium(), (opened) => opened.close());
    const elsewhere = started.add(
      createServer((_, res) => res.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>')).listen(0, '127.0.0.1'),
      (server) => server.close(),
    );
    await once(elsewhere, 'listening');
    const operator = await Viewer.open(browser, router);
    const page = await operator.context.newPage();
    await page.goto(`http://127.0.0.1:${String((elsewhere.address() as AddressInfo).port)}/`);
    const [cookiesSent] = await Promise.all([
      page.waitForEvent('websocket').then((socket) => socket.url()),
      page.evaluate(
        (url) =>
          new Promise((resolve) => {
            const socket = new WebSocket(url);
            socket.onopen = () => resolve('open');
            socket.onerror = () => resolve('refused');
          }),
        `ws://${router.adminAddress}${socketPath}`,
      ).then((end) => expect(end).toBe('refused')),
    ]);
    expect(cookiesSent).toContain(router.adminAddress);
    const act = await page.evaluate(
      async (url) =>
        await fetch(url, { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{}' }).then(
          ({ type }) => type,
          () => 'refused',
        ),
      `http://${router.adminAddress}/api/v1/workers/prefill-1/drain`,
    );
    // Sent as a form would be; what came of it is what counts.
    expect(['opaque', 'refused']).toContain(act);
    expect((await router.admin.workers())[0]).toMatchObject({ adminState: 'ready' });
    operator.assertNoComplaint();
  });
});
