import { ProxyHarness, until } from './testing/proxy-harness.js';
import { answer, events } from './testing/scripted-engine.js';

describe('a request on one worker', () => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start();
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  it('relays a plain answer byte for byte with its headers', async () => {
    const body = '{"id":"x","n":18446744073709551615,"t":1.0,"text":"北京🌍é"}';
    const engine = await proxy.regular(answer(200, body, { 'x-engine': 'a', 'set-cookie': ['a=1', 'b=2'], 'x-request-id': 'inner' }));
    const response = await proxy.chat({}, { headers: { 'content-type': 'application/json', 'x-request-id': 'mine' } });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(body);
    expect(response.headers.get('x-engine')).toBe('a');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('x-request-id')).toBe('mine');
    expect(engine.requests[0]?.headers['x-request-id']).toBe('mine');
    expect(proxy.scheduler.outcomes).toMatchObject([{ phase: 'single', result: 'succeeded', status: 200, fault: null }]);
    expect(proxy.scheduler.firstBytes).toEqual(['single']);
    expect(proxy.scheduler.closed).toMatchObject([{ status: 200, outcome: 'ok' }]);
  });

  it('sends the body as it came, whatever its spacing, numbers and unknown members', async () => {
    const engine = await proxy.regular(answer(200, '{}'));
    const body = '{ "model":"m" , "seed": 18446744073709551615, "t":1.0, "x":{"a":[null,true]}, "messages":[] }\n';
    await (await proxy.post('/v1/chat/completions?x=1', body)).text();
    expect(engine.requests[0]).toMatchObject({ body, url: '/v1/chat/completions?x=1' });
  });

  it('relays a stream as it is made, whatever its framing', async () => {
    const parts = ['data: {"a":1}\r\n\r\n', ': keep-alive\n\n', 'event: x\nid: 1\ndata:no space\n\n', 'data: [DONE]\n\n'];
    let go: () => void = () => undefined;
    await proxy.regular((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(parts[0]!);
      go = () => {
        for (const part of parts.slice(1)) res.write(part);
        res.end();
      };
    });
    const response = await proxy.chat({ stream: true });
    const reader = response.body!.getReader();
    const first = await reader.read();
    expect(Buffer.from(first.value ?? []).toString()).toBe(parts[0]);
    expect(proxy.scheduler.live.size).toBe(1);
    go();
    let rest = '';
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest += Buffer.from(next.value).toString();
    expect(rest).toBe(parts.slice(1).join(''));
    await until(() => proxy.scheduler.live.size === 0, 'the grant ends');
  });

  it('relays a large body of unknown length completely', async () => {
    const body = Buffer.alloc(3_000_000, 'abcdefg');
    await proxy.regular((_request, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(body);
    });
    const received = Buffer.from(await (await proxy.chat()).arrayBuffer());
    expect(received.equals(body)).toBe(true);
  });

  it('takes over an answer without a body', async () => {
    await proxy.regular(answer(200, ''));
    const response = await proxy.chat();
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('reuses one engine connection for requests one after another', async () => {
    const engine = await proxy.regular(events('data: x\n\n'));
    for (let i = 0; i < 5; i++) await (await proxy.chat()).text();
    expect(engine.connections).toBe(1);
  });
});
