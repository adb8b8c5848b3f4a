import { ProxyHarness, until } from './testing/proxy-harness.js';

describe('the bytes of request bodies', () => {
  it('are counted from their arrival to the end of their request', async () => {
    const proxy = await ProxyHarness.start();
    let answer: () => void = () => undefined;
    const engine = await proxy.regular((_request, res) => {
      answer = () => res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    expect(proxy.server.bufferedBytes).toBe(0);
    const body = proxy.chatText({}).split('\r\n\r\n').slice(1).join('\r\n\r\n');
    const upload = await proxy.raw(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${String(body.length)}\r\n\r\n${body.slice(0, 10)}`);
    await until(() => proxy.server.bufferedBytes === 10, 'the first bytes count');
    upload.socket.write(body.slice(10));
    await until(() => proxy.server.bufferedBytes === body.length, 'all bytes count');
    await until(() => engine.requests.length === 1, 'the engine works on it');
    expect(proxy.server.bufferedBytes).toBe(body.length);
    answer();
    await until(() => proxy.server.bufferedBytes === 0, 'none is left');
    upload.socket.destroy();
    expect(await proxy.settle()).toEqual([]);
  });
});
