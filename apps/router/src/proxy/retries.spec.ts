import { ProxyHarness } from './testing/proxy-harness.js';
import { answer, type EngineScript, events, prefillAnswer } from './testing/scripted-engine.js';

const reset: EngineScript = (_request, _res, req) => req.socket.resetAndDestroy();
const good = answer(200, '{"ok":1}');
const errorFirst = events('data: {"error":{"message":"boom","code":500}}\n\n', 'data: [DONE]\n\n');

describe('retries before the first body byte', () => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start();
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  const workers = async (...scripts: EngineScript[]) => {
    const engines = [];
    for (const script of scripts) engines.push(await proxy.regular(script));
    return engines;
  };

  it.each<[string, EngineScript, string]>([
    ['500', answer(500, 'no'), 'status_5xx'],
    ['502', answer(502, 'no'), 'status_5xx'],
    ['a reset', reset, 'transport'],
    ['an event stream that opens with an error', errorFirst, 'stream_error'],
    [
      'a head without a body',
      (_request, res, req) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.flushHeaders();
        setTimeout(() => req.socket.destroy(), 20);
      },
      'transport',
    ],
    [
      'half a first event',
      (_request, res, req) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write('data: {"a"');
        setTimeout(() => req.socket.destroy(), 20);
      },
      'transport',
    ],
  ])('tries another worker after %s', async (_name, script, reason) => {
    const [first, second] = await workers(script, good);
    const response = await proxy.chat({ stream: true });
    expect([response.status, await response.text()]).toEqual([200, '{"ok":1}']);
    expect([first!.requests.length, second!.requests.length]).toEqual([1, 1]);
    expect(second!.requests[0]!.body).toBe(first!.requests[0]!.body);
    expect(proxy.scheduler.excluded).toEqual([[], ['regular-1']]);
    expect(proxy.scheduler.outcomes.map(({ result }) => result)).toEqual(['failed', 'succeeded']);
    expect(proxy.telemetry.retries).toEqual([reason]);
  });

  it('relays the last engine answer after three failed calls', async () => {
    const engines = await workers(answer(500, 'one'), answer(502, 'two'), answer(504, 'three'), good);
    const response = await proxy.chat();
    expect([response.status, await response.text(), response.headers.get('x-switchyard-error')]).toEqual([504, 'three', null]);
    expect(engines.map(({ requests }) => requests.length)).toEqual([1, 1, 1, 0]);
    expect(proxy.scheduler.closed).toMatchObject([{ status: 504, outcome: 'engine_error' }]);
    expect(proxy.telemetry.retries).toEqual(['status_5xx', 'status_5xx']);
  });

  it('relays an earlier answer when later calls had none', async () => {
    await workers(answer(500, 'said', { 'x-engine': 'first' }), reset, reset);
    const response = await proxy.chat();
    expect([response.status, await response.text(), response.headers.get('x-engine')]).toEqual([500, 'said', 'first']);
  });

  it('relays what the only worker said', async () => {
    const [only] = await workers(answer(500, 'said'));
    const response = await proxy.chat();
    expect([response.status, await response.text(), only!.requests.length]).toEqual([500, 'said', 1]);
    // Nobody else was there to try.
    expect(proxy.telemetry.retries).toEqual([]);
  });

  it('relays an opening error event as it came when nobody else is there', async () => {
    await workers(errorFirst);
    const response = await proxy.chat({ stream: true });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('data: {"error":{"message":"boom","code":500}}\n\ndata: [DONE]\n\n');
    expect(proxy.scheduler.firstBytes).toEqual([]);
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'failed' }]);
  });

  it('answers 502 when no engine answered at all', async () => {
    await workers(reset, reset, reset);
    const response = await proxy.chat();
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { type: 'server_error', code: 'upstream_unreachable', param: null } });
    expect(proxy.scheduler.outcomes.map(({ fault }) => fault)).toEqual(['reset', 'reset', 'reset']);
  });

  it('reports a refused connection as such', async () => {
    const [gone] = await workers(good);
    await gone!.stop();
    proxy.engines.splice(0);
    const response = await proxy.chat();
    expect([response.status, response.headers.get('x-switchyard-error')]).toEqual([502, 'upstream_unreachable']);
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'failed', fault: 'connect_refused', status: null }]);
  });

  it.each([429, 503])('tries at most one other worker after %s, then relays the second with its Retry-After', async (status) => {
    const engines = await workers(answer(status, 'one'), answer(status, 'two', { 'retry-after': '7', 'x-ratelimit-limit': '3' }), good);
    const response = await proxy.chat();
    expect([response.status, await response.text(), response.headers.get('retry-after'), response.headers.get('x-ratelimit-limit')]).toEqual([status, 'two', '7', '3']);
    expect(engines.map(({ requests }) => requests.length)).toEqual([1, 1, 0]);
  });

  it('keeps the Retry-After of the only worker', async () => {
    await workers(answer(429, 'busy', { 'retry-after': '9' }));
    const response = await proxy.chat();
    expect([response.status, await response.text(), response.headers.get('retry-after')]).toEqual([429, 'busy', '9']);
  });

  it.each([400, 401, 404, 422])('relays %s at once', async (status) => {
    const engines = await workers(answer(status, 'theirs'), good);
    const response = await proxy.chat();
    expect([response.status, await response.text()]).toEqual([status, 'theirs']);
    expect(engines[1]!.requests).toHaveLength(0);
  });

  it('begins at prefill again after a decode failure, on another decode worker', async () => {
    const { prefill } = await proxy.pair(answer(200, prefillAnswer), answer(500, 'no'));
    const other = await proxy.engine(good);
    proxy.scheduler.add('decode', other.endpoint);
    const response = await proxy.chat();
    expect([response.status, await response.text()]).toEqual([200, '{"ok":1}']);
    expect(prefill.requests).toHaveLength(2);
    expect(new Set(prefill.requests.map(({ headers }) => headers['x-request-id'])).size).toBe(2);
    expect(proxy.scheduler.outcomes).toMatchObject([{ phase: 'decode', result: 'failed', status: 500 }, { phase: 'decode', result: 'succeeded' }]);
  });

  it.each<[string, EngineScript]>([
    ['a 500', answer(500, 'no')],
    ['a reset', reset],
    ['an error event', errorFirst],
  ])('blames %s of decode on the pair, and tries the same decode worker with another prefill worker', async (_name, script) => {
    let calls = 0;
    const { decode } = await proxy.pair(answer(200, prefillAnswer), (request, res, req) => (calls++ === 0 ? script : good)(request, res, req));
    const other = await proxy.engine(answer(200, prefillAnswer));
    proxy.scheduler.add('prefill', other.endpoint);
    const response = await proxy.chat({ stream: true });
    expect([response.status, await response.text()]).toEqual([200, '{"ok":1}']);
    expect([decode.requests.length, other.requests.length]).toEqual([2, 1]);
    expect(proxy.scheduler.excluded).toEqual([[], []]);
    expect(proxy.scheduler.failedPairs).toEqual([[], [{ prefill: 'prefill-1', decode: 'decode-2' }]]);
  });

  it.each([429, 503])('blames %s of decode on the decode worker alone', async (status) => {
    const { decode } = await proxy.pair(answer(200, prefillAnswer), answer(status, 'busy'));
    proxy.scheduler.add('prefill', (await proxy.engine(answer(200, prefillAnswer))).endpoint);
    const response = await proxy.chat();
    expect([response.status, await response.text(), decode.requests.length]).toEqual([status, 'busy', 1]);
    expect(proxy.scheduler.excluded).toEqual([[], ['decode-2']]);
  });

  it('blames the decode worker alone when nothing was handed over', async () => {
    const { decode } = await proxy.pair(good, answer(500, 'no'));
    proxy.scheduler.add('prefill', (await proxy.engine(good)).endpoint);
    expect((await proxy.chat()).status).toBe(500);
    expect(decode.requests).toHaveLength(1);
    expect(proxy.scheduler.excluded).toEqual([[], ['decode-2']]);
  });

  it('relays the last answer of the only decode worker after three pairs', async () => {
    const { decode } = await proxy.pair(answer(200, prefillAnswer), answer(500, 'no'));
    for (let more = 0; more < 3; more += 1) proxy.scheduler.add('prefill', (await proxy.engine(answer(200, prefillAnswer))).endpoint);
    const response = await proxy.chat();
    expect([response.status, await response.text(), decode.requests.length]).toEqual([500, 'no', 3]);
  });

  it('tries another pair after a prefill failure', async () => {
    const { decode } = await proxy.pair(answer(500, 'no'), good);
    const other = await proxy.engine(answer(200, prefillAnswer));
    proxy.scheduler.add('prefill', other.endpoint);
    expect((await proxy.chat()).status).toBe(200);
    expect(decode.requests).toHaveLength(1);
  });
});

describe('with one attempt allowed', () => {
  it('relays the first failure', async () => {
    const proxy = await ProxyHarness.start({ retryMaxAttempts: 1 });
    await proxy.regular(answer(500, 'said'));
    const second = await proxy.regular(good);
    const response = await proxy.chat();
    expect([response.status, await response.text(), second.requests.length]).toEqual([500, 'said', 0]);
    expect(await proxy.settle()).toEqual([]);
  });
});
