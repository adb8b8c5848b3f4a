import { type AddressInfo, createServer, type Socket } from 'node:net';
import { ProxyHarness } from './testing/proxy-harness.js';
import { answer, type EngineScript } from './testing/scripted-engine.js';

const bytes =
  (text: string): EngineScript =>
  (_request, _res, req) =>
    req.socket.write(Buffer.from(text, 'latin1'));

const withReason = (status: number, reason: string): EngineScript => bytes(`HTTP/1.1 ${String(status)} ${reason}\r\nx-a: \xe9\r\ncontent-length: 2\r\n\r\n{}`);
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

describe('an engine that answers oddly', () => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start({ retryMaxAttempts: 1, maxBodyBytes: 100_000_000 });
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
    expect(proxy.logLines.filter((line) => line.includes('failed inside'))).toEqual([]);
  });

  const statusLine = async (script: EngineScript, how: 'regular' | 'prefill') => {
    if (how === 'regular') await proxy.regular(script);
    else await proxy.pair(script, answer(200, '{}'));
    const client = await proxy.raw(proxy.chatText({}, 'connection: close\r\n'));
    await new Promise((resolve) => client.socket.once('end', resolve));
    client.socket.destroy();
    expect(client.received.endsWith('\r\n\r\n{}')).toBe(true);
    return client.received.slice(0, client.received.indexOf('\r\n'));
  };

  it.each(['regular', 'prefill'] as const)('may put what it likes into its reason phrase (%s)', async (how) => {
    expect(await statusLine(withReason(400, utf8('参数错误')), how)).toBe(`HTTP/1.1 400 ${utf8('参数错误')}`);
  });

  it.each(['regular', 'prefill'] as const)('loses a reason phrase that no response may have (%s)', async (how) => {
    expect(await statusLine(withReason(400, 'a\x01b'), how)).toBe('HTTP/1.1 400 ');
  });

  it('loses one whose bytes are not known any more', async () => {
    expect(await statusLine(withReason(400, 'caf\xe9'), 'regular')).toBe('HTTP/1.1 400 ');
  });

  it('before it has read the request gets no other request on that connection', async () => {
    const head = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}';
    const connections: Socket[] = [];
    // It answers the head, and never reads on.
    const engine = createServer((socket) => {
      connections.push(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.pause();
        socket.write(head);
      });
    });
    await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve));
    proxy.scheduler.add('regular', `http://127.0.0.1:${String((engine.address() as AddressInfo).port)}`);
    expect((await proxy.chat({ large: 'x'.repeat(20_000_000) })).status).toBe(400);
    expect((await proxy.chat()).status).toBe(400);
    expect(connections).toHaveLength(2);
    for (const socket of connections) socket.destroy();
    await new Promise((resolve) => engine.close(resolve));
  });
});
