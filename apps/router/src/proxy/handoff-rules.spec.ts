import { errorOf, ProxyHarness, until } from './testing/proxy-harness.js';
import { answer, type EngineScript, prefillAnswer } from './testing/scripted-engine.js';

const good = answer(200, '{"ok":1}');
const reset: EngineScript = (_request, _res, req) => req.socket.resetAndDestroy();

describe('a hand-off', () => {
  let proxy: ProxyHarness;

  beforeEach(async () => {
    proxy = await ProxyHarness.start();
  });

  afterEach(async () => {
    expect(await proxy.settle()).toEqual([]);
  });

  it('goes to another decode worker when the first could not be connected to', async () => {
    const { prefill, decode } = await proxy.pair(answer(200, prefillAnswer), good);
    await decode.stop();
    proxy.engines.splice(proxy.engines.indexOf(decode), 1);
    const other = await proxy.engine(good);
    proxy.scheduler.add('decode', other.endpoint);
    expect((await proxy.chat()).status).toBe(200);
    expect([prefill.requests.length, other.requests.length]).toEqual([1, 1]);
    expect(other.requests[0]!.body).toContain('"remote_engine_id":"e1"');
    expect(proxy.scheduler.outcomes).toMatchObject([
      { phase: 'decode', result: 'failed', fault: 'connect_refused' },
      { phase: 'decode', result: 'succeeded' },
    ]);
    expect(proxy.telemetry.retries).toEqual(['transport']);
  });

  it('is no retry when there is no other decode worker to go to', async () => {
    const { decode } = await proxy.pair(answer(200, prefillAnswer), good);
    await decode.stop();
    proxy.engines.splice(proxy.engines.indexOf(decode), 1);
    expect((await proxy.chat()).status).toBe(502);
    expect(proxy.telemetry.retries).toEqual([]);
  });

  it('is made anew when the decode call may have reached an engine', async () => {
    const { prefill } = await proxy.pair(answer(200, prefillAnswer), reset);
    const other = await proxy.engine(good);
    proxy.scheduler.add('decode', other.endpoint);
    expect((await proxy.chat()).status).toBe(200);
    expect(prefill.requests).toHaveLength(2);
  });

  it('is made anew for P2P NCCL even when decode could not be connected to, since prefill was told its address', async () => {
    const { prefill, decode } = await proxy.pair(answer(200, '{"choices":[]}'), good, 'p2p-nccl');
    await decode.stop();
    proxy.engines.splice(proxy.engines.indexOf(decode), 1);
    const other = await proxy.engine(good);
    proxy.scheduler.add('decode', other.endpoint, { zmqAddress: '10.0.0.3:1' });
    expect((await proxy.chat()).status).toBe(200);
    expect(prefill.requests).toHaveLength(2);
    expect(other.requests[0]!.headers['x-request-id']).toMatch(/___decode_addr_10\.0\.0\.3:1_/);
    expect(proxy.telemetry.retries).toEqual(['transport']);
  });

  it('is not sent on a second connection after a stale one, and costs no attempt', async () => {
    await proxy.stop();
    proxy = await ProxyHarness.start({ retryMaxAttempts: 1 });
    let stale = false;
    const { prefill, decode } = await proxy.pair(answer(200, prefillAnswer), (request, res, req) => {
      if (!stale) good(request, res, req);
      else {
        stale = false;
        req.socket.resetAndDestroy();
      }
    });
    await (await proxy.chat()).text();
    stale = true;
    const response = await proxy.chat();
    expect([response.status, await response.text()]).toEqual([200, '{"ok":1}']);
    expect([prefill.requests.length, decode.requests.length]).toEqual([3, 3]);
    expect(new Set(decode.requests.map(({ headers }) => headers['x-request-id'])).size).toBe(3);
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'succeeded' }, { result: 'cancelled', fault: null }, { result: 'succeeded' }]);
    expect(proxy.scheduler.excluded.flat()).toEqual([]);
    expect(proxy.telemetry.upstreamErrors).toEqual(['stale_connection']);
  });

  it('is repeated on a fresh connection when decode computes the prompt itself', async () => {
    let stale = false;
    const { prefill, decode } = await proxy.pair(answer(200, '{"choices":[]}'), (request, res, req) => {
      if (!stale) good(request, res, req);
      else {
        stale = false;
        req.socket.resetAndDestroy();
      }
    });
    await (await proxy.chat()).text();
    stale = true;
    expect((await proxy.chat()).status).toBe(200);
    expect([prefill.requests.length, decode.requests.length]).toEqual([2, 3]);
  });

  it('is not sent once it is too old', async () => {
    await proxy.stop();
    proxy = await ProxyHarness.start({ handoffMaxAgeMs: 30 });
    const { prefill, decode } = await proxy.pair(answer(200, prefillAnswer), good);
    let waits = 1;
    proxy.scheduler.before.beginDecode = () => (waits-- > 0 ? new Promise((resolve) => setTimeout(resolve, 60)) : undefined);
    expect((await proxy.chat()).status).toBe(200);
    expect([prefill.requests.length, decode.requests.length]).toEqual([2, 1]);
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'cancelled', fault: 'revoked' }, { result: 'succeeded' }]);
  });

  it('begins at prefill again when the scheduler calls it stale, but not for ever', async () => {
    const { prefill, decode } = await proxy.pair(answer(200, prefillAnswer), good);
    proxy.scheduler.onBeginDecode = () => ({ kind: 'stale', cause: 'prefill_departed' });
    const response = await proxy.chat();
    expect([response.status, response.headers.get('x-switchyard-error')]).toEqual([503, 'no_available_workers']);
    expect(prefill.requests).toHaveLength(9);
    expect(decode.connections).toBe(0);
  });

  it('is not sent to a worker that left between the choice and the call', async () => {
    const { decode } = await proxy.pair(answer(200, prefillAnswer), good);
    let leaves = 1;
    proxy.scheduler.onBeginDecode = () => {
      if (leaves-- > 0) proxy.scheduler.revokeAll('departed', false);
      return undefined;
    };
    expect((await proxy.chat()).status).toBe(200);
    expect(decode.requests).toHaveLength(1);
    expect(proxy.scheduler.outcomes).toMatchObject([{ result: 'cancelled', fault: 'revoked' }, { result: 'succeeded' }]);
  });

  it('answers 503 with the counts when no decode worker is left after prefill', async () => {
    await proxy.pair(answer(200, prefillAnswer), good);
    proxy.scheduler.onBeginDecode = () => proxy.scheduler.unavailable();
    const response = await proxy.chat();
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).not.toBeNull();
    expect(errorOf(await response.text()).message).toBe('no available workers: prefill 0/1, decode 0/1, regular 0/0 selectable');
    await until(() => proxy.scheduler.live.size === 0, 'the grant ends');
  });
});
