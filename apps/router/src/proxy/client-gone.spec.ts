import { ProxyHarness, type RawClient, until } from './testing/proxy-harness.js';
import { answer, type EngineScript, events, prefillAnswer } from './testing/scripted-engine.js';

const hang: EngineScript = () => undefined;
const headOnly: EngineScript = (_request, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.flushHeaders();
};
const endless: EngineScript = (_request, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => res.write('data: x\n\n'), 10);
  res.on('close', () => clearInterval(timer));
};

const leave: readonly (readonly [string, (client: RawClient) => void])[] = [
  ['closing', (client) => client.socket.destroy()],
  ['half-closing', (client) => client.socket.end()],
  ['resetting', (client) => client.socket.resetAndDestroy()],
];

/** What "at once" means in the contract, with room for a busy machine. */
const withinMs = 500;

describe.each(leave)('a client that leaves by %s', (_name, go) => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start();
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  const leaveAndSettle = async (client: RawClient) => {
    go(client);
    await until(() => proxy.scheduler.live.size === 0 && proxy.scheduler.closed.length === proxy.scheduler.opened.length, 'the grant ends', withinMs);
    await until(() => proxy.engines.every(({ sockets }) => sockets.size === 0), 'engine connections close', withinMs);
    client.socket.destroy();
  };

  it('while its body is being read', async () => {
    const client = await proxy.raw('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{');
    await until(() => proxy.server.openRequests === 1, 'the request arrives');
    go(client);
    await until(() => proxy.server.openRequests === 0, 'the request is over', withinMs);
    expect(proxy.telemetry.aborts).toEqual(['upload']);
    client.socket.destroy();
  });

  it('while it waits for a placement', async () => {
    let grant: () => void = () => undefined;
    proxy.scheduler.before.reserve = () => new Promise((resolve) => (grant = resolve));
    const engine = await proxy.regular(answer(200, '{}'));
    const client = await proxy.raw(proxy.chatText());
    await until(() => proxy.scheduler.opened.length === 1, 'the request is open');
    go(client);
    await new Promise((resolve) => setTimeout(resolve, 20));
    grant();
    await until(() => proxy.scheduler.closed.length === 1, 'the request closes', withinMs);
    expect(engine.connections).toBe(0);
    expect(proxy.telemetry.aborts).toEqual(['queued']);
    client.socket.destroy();
  });

  it('while it waits for gated workers', async () => {
    proxy.scheduler.onReserve = () => proxy.scheduler.unavailable({ waitable: true });
    const client = await proxy.raw(proxy.chatText());
    await until(() => proxy.scheduler.excluded.length === 1, 'the request waits');
    await leaveAndSettle(client);
    expect(proxy.scheduler.closed).toMatchObject([{ status: null, outcome: 'client_gone' }]);
  });

  it('during prefill', async () => {
    const { prefill, decode } = await proxy.pair(hang, answer(200, '{}'));
    const client = await proxy.raw(proxy.chatText());
    await until(() => prefill.requests.length === 1, 'prefill is called');
    await leaveAndSettle(client);
    expect(decode.connections).toBe(0);
    expect(proxy.telemetry.aborts).toEqual(['prefill']);
    expect(proxy.scheduler.outcomes).toMatchObject([{ phase: 'prefill', result: 'cancelled', fault: null }]);
  });

  it('between the legs', async () => {
    proxy.scheduler.before.beginDecode = () => new Promise(() => undefined);
    const { prefill, decode } = await proxy.pair(answer(200, prefillAnswer, { connection: 'close' }), answer(200, '{}'));
    const client = await proxy.raw(proxy.chatText());
    await until(() => prefill.requests.length === 1 && proxy.scheduler.handoffs.length === 1, 'prefill is done');
    go(client);
    await until(() => proxy.scheduler.live.size === 0, 'the grant ends', withinMs);
    expect(decode.connections).toBe(0);
    proxy.scheduler.closed.push({ status: null, outcome: 'never answered by the script', usage: null, reportedCachedTokens: null });
    client.socket.destroy();
  });

  it.each([
    ['before the head', hang],
    ['before the first byte', headOnly],
  ])('in decode, %s', async (_when, script) => {
    const { decode } = await proxy.pair(answer(200, prefillAnswer, { connection: 'close' }), script);
    const client = await proxy.raw(proxy.chatText({ stream: true }));
    await until(() => decode.requests.length === 1, 'decode is called');
    await leaveAndSettle(client);
    expect(client.received).toBe('');
    expect(proxy.telemetry.aborts).toEqual(['first_byte']);
  });

  it('in the middle of a stream', async () => {
    const { decode } = await proxy.pair(answer(200, prefillAnswer, { connection: 'close' }), endless);
    const client = await proxy.raw(proxy.chatText({ stream: true }));
    await until(() => client.received.includes('data: x'), 'the stream begins');
    await leaveAndSettle(client);
    expect(decode.aborted).toBe(1);
    expect(proxy.telemetry.aborts).toEqual(['stream']);
    expect(proxy.scheduler.outcomes).toMatchObject([{ phase: 'decode', result: 'cancelled' }]);
    expect(proxy.scheduler.closed).toMatchObject([{ status: 200, outcome: 'client_gone' }]);
  });

  it('leaves other requests alone', async () => {
    await proxy.regular(endless);
    const staying = await proxy.raw(proxy.chatText({ stream: true }));
    const leaving = await proxy.raw(proxy.chatText({ stream: true }));
    await until(() => staying.received.includes('data: x') && leaving.received.includes('data: x'), 'both stream');
    go(leaving);
    await until(() => proxy.scheduler.live.size === 1, 'one grant ends', withinMs);
    const before = staying.received.length;
    await until(() => staying.received.length > before, 'the other goes on');
    staying.socket.destroy();
    leaving.socket.destroy();
  });
});

it('a client that leaves after its answer changes nothing', async () => {
  const proxy = await ProxyHarness.start();
  await proxy.regular(events('data: x\n\n'));
  const client = await proxy.raw(proxy.chatText({ stream: true }));
  await until(() => client.received.endsWith('0\r\n\r\n'), 'the answer is complete');
  client.socket.end();
  await until(() => client.closed, 'the connection closes');
  expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'succeeded' }]);
  expect(proxy.telemetry.aborts).toEqual([]);
  expect(await proxy.settle()).toEqual([]);
});
