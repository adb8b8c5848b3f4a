import { ProxyHarness, until } from './testing/proxy-harness.js';

it('takes an answer from the engine no faster than the client reads it, and then completely', async () => {
  const proxy = await ProxyHarness.start({ streamIdleTimeoutMs: 1_000 });
  const chunk = Buffer.alloc(65_536, 'x');
  const chunks = 1024;
  let sent = 0;
  await proxy.regular((_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: 1\n\n');
    const more = () => {
      while (sent < chunks) {
        sent += 1;
        if (!res.write(chunk)) {
          res.once('drain', more);
          return;
        }
      }
      res.end();
    };
    more();
  });
  const client = await proxy.raw('');
  client.socket.removeAllListeners('data');
  client.socket.pause();
  client.socket.write(proxy.chatText({ stream: true }));
  let before = -1;
  await until(() => {
    const still = sent > 0 && sent === before;
    before = sent;
    return still;
  }, 'the engine is held up');
  // Longer than the idle limit: a client that reads slowly is not the engine's fault.
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  expect(sent).toBeLessThan(chunks / 2);
  expect(proxy.scheduler.live.size).toBe(1);
  let received = 0;
  let tail = '';
  client.socket.on('data', (bytes: Buffer) => {
    received += bytes.length;
    tail = (tail + bytes.subarray(-5).toString('latin1')).slice(-5);
  });
  client.socket.resume();
  await until(() => tail === '0\r\n\r\n', 'the rest arrives', 20_000);
  expect(received).toBeGreaterThan(chunks * chunk.length);
  client.socket.destroy();
  expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'succeeded' }]);
  expect(await proxy.settle()).toEqual([]);
}, 30_000);
