import { type Socket } from 'node:net';

import { complainOfFaults, settled } from '../support/accounts.js';
import { eventually, pause } from '../support/eventually.js';
import { exchange } from '../support/exchange.js';
import { Started } from '../support/fleet.js';
import { freeze } from '../support/frozen-engine.js';
import { type Leaving, leavings, RawClient } from '../support/raw-client.js';
import { type RouterProcess } from '../support/router-process.js';
import { answerJson, completion, type EngineCall, event, isPrefillLeg, ScriptedEngine, startEvents } from '../support/scripted-engine.js';

/** Promised are 100 ms; the rest is what a busy machine may add to the measuring. */
const withinMs = 500;
const measuredMs: number[] = [];

/** Where the request stands when its client leaves. */
const scenes = ['prefill', 'prefill, head sent', 'before the first byte', 'before the first byte, head sent', 'mid-stream', 'mid-stream, not reading', 'mid-body'] as const;
type Scene = (typeof scenes)[number];

async function measured(what: string, sinceMs: number, probe: () => Promise<boolean> | boolean): Promise<void> {
  await eventually(what, probe, withinMs, 2);
  measuredMs.push(performance.now() - sinceMs);
}

async function nothingHeld(router: RouterProcess): Promise<boolean> {
  return (await router.admin.workers()).every(({ load, pressure, holds }) => load + pressure + holds.kvOut + holds.bound === 0);
}

async function inflight(router: RouterProcess): Promise<number> {
  return ((await router.admin.get('/api/v1/requests?state=inflight')).items as unknown[]).length;
}

async function outcome(router: RouterProcess, id: string): Promise<string> {
  return await eventually('the end of the request', async () => (await router.admin.receipt(id)).outcome as string);
}

describe('13: clients that leave', () => {
  const started = new Started();
  let scene: Scene = 'prefill';
  let reached: { readonly call: EngineCall; readonly socket: Socket } | null = null;
  let pair: RouterProcess;
  let single: RouterProcess;

  beforeAll(async () => {
    const handle: ScriptedEngine['handle'] = (call, res, socket) => {
      if (isPrefillLeg(call)) {
        if (!scene.startsWith('prefill')) {
          answerJson(res, completion('x'));
          return;
        }
        if (scene === 'prefill, head sent') res.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).flushHeaders();
      } else if (scene === 'before the first byte, head sent') startEvents(res);
      else if (scene === 'mid-stream') {
        startEvents(res);
        res.write(event('first'));
      } else if (scene === 'mid-stream, not reading') {
        startEvents(res);
        const fill = (): void => {
          while (!res.destroyed && res.write(event('x'.repeat(50_000))));
        };
        res.on('drain', fill);
        fill();
      } else if (scene === 'mid-body') {
        res.writeHead(200, { 'content-type': 'application/json', 'content-length': '200000' });
        res.write(`{"first":"${'x'.repeat(100_000)}`);
      }
      reached = { call, socket };
    };
    const start = async (): Promise<ScriptedEngine> => started.add(await ScriptedEngine.start({ handle }), (engine) => engine.stop());
    const [p, d, r] = [await start(), await start(), await start()];
    [pair, single] = await Promise.all([started.router(['--prefill', p.url, '--decode', d.url]), started.router(['--worker-url', r.url])]);
    await pair.admin.selectable({ prefill: 1, decode: 1 });
    await single.admin.selectable({ regular: 1 });
  }, 30_000);

  afterAll(async () => {
    await started.end();
    process.stdout.write(`clients that left: everything closed and released after at most ${Math.max(...measuredMs).toFixed(0)} ms\n`);
  });

  async function leaveIn(router: RouterProcess, next: Scene, how: Leaving): Promise<void> {
    scene = next;
    reached = null;
    const id = `${next.replaceAll(/\W+/g, '-')}-${how}`;
    const body = { model: 'm', prompt: id, ...(next === 'mid-body' ? {} : { stream: true }) };
    const client = await RawClient.post(router.api, '/v1/completions', body, { headers: { 'x-request-id': id } });
    if (next === 'mid-stream, not reading') client.socket.pause();
    const { call, socket } = await eventually('the call at the engine', () => reached);
    if (next === 'mid-stream' || next === 'mid-body') await client.until('first');
    if (next === 'mid-stream, not reading') {
      // Until every buffer on the way is full, and nobody waits for anything but the client.
      await eventually('back-pressure', async () => {
        const { bytesWritten } = socket;
        await pause(200);
        return bytesWritten > 50_000 && bytesWritten === socket.bytesWritten;
      });
    }
    const leftMs = performance.now();
    client.leave(how);
    await measured('the engine connection closed', leftMs, () => call.abortedAfterMs !== null);
    await measured('all leases and holds released', leftMs, async () => await nothingHeld(router));
    await settled(router);
    expect(await outcome(router, id)).toBe('client_gone');
    if (how === 'half-close' && next !== 'mid-stream, not reading') await eventually('the client connection closed', () => client.closed);
    client.leave('close');
  }

  describe.each(leavings)('by %s', (how) => {
    it.each(scenes)('from a pair: %s', async (next) => await leaveIn(pair, next, how));
    it.each(scenes.filter((name) => !name.startsWith('prefill')))('from a single worker: %s', async (next) => await leaveIn(single, next, how));

    it('while still uploading', async () => {
      reached = null;
      const client = await RawClient.post(pair.api, '/v1/completions', { model: 'm', prompt: 'x'.repeat(1000) }, { sent: 500 });
      await pause(50);
      client.leave(how);
      await settled(pair);
      expect(reached).toBeNull();
      client.leave('close');
    });
  });

  it('with two requests on one connection: both end', async () => {
    scene = 'mid-stream';
    reached = null;
    const client = await RawClient.post(single.api, '/v1/completions', { model: 'm', prompt: 'a', stream: true });
    const first = await eventually('the first call', () => reached);
    reached = null;
    const body = JSON.stringify({ model: 'm', prompt: 'b', stream: true });
    client.write(`POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${String(body.length)}\r\n\r\n${body}`);
    const second = await eventually('the second call', () => reached);
    const leftMs = performance.now();
    client.leave('close');
    await measured('both engine connections closed', leftMs, () => first.call.abortedAfterMs !== null && second.call.abortedAfterMs !== null);
    await measured('both leases released', leftMs, async () => await nothingHeld(single));
    await settled(single);
  });

  it('mid-stream with garbage on the connection: the request ends like any other', async () => {
    scene = 'mid-stream';
    reached = null;
    const client = await RawClient.post(single.api, '/v1/completions', { model: 'm', prompt: 'a', stream: true });
    const { call } = await eventually('the call', () => reached);
    await client.until('first');
    client.write('\0\0\0 this is no request\r\n\r\n');
    await eventually('the engine connection closed', () => call.abortedAfterMs !== null, withinMs);
    await settled(single);
    client.leave('close');
  });

  it.each(leavings)('while queued for gated workers, by %s: no engine is ever called', async (how) => {
    const engine = started.add(await ScriptedEngine.start(), (it) => it.stop());
    engine.healthStatus = 503;
    const router = await started.router(['--worker-url', engine.url, '--gate-wait-secs', '5']);
    const client = await RawClient.post(router.api, '/v1/completions', { model: 'm', prompt: 'x' }, { headers: { 'x-request-id': 'queued' } });
    await eventually('queued', async () => (await inflight(router)) === 1);
    const leftMs = performance.now();
    client.leave(how);
    await measured('it left the queue', leftMs, async () => (await inflight(router)) === 0);
    engine.healthStatus = 200;
    await router.admin.selectable({ regular: 1 });
    await settled(router);
    expect(engine.inference()).toHaveLength(0);
    expect(await outcome(router, 'queued')).toBe('client_gone');
    client.leave('close');
  });

  it.each(leavings)('between the legs, waiting for a gated decode worker, by %s', async (how) => {
    const prefills: (() => void)[] = [];
    const prefill = started.add(await ScriptedEngine.start({ handle: (_call, res) => void prefills.push(() => answerJson(res, completion('x'))) }), (it) => it.stop());
    const decode = started.add(await ScriptedEngine.start(), (it) => it.stop());
    const router = await started.router(['--prefill', prefill.url, '--decode', decode.url, '--kv-connector', 'nixl', '--gate-wait-secs', '10']);
    const [before] = (await router.admin.selectable({ prefill: 1, decode: 1 })).filter(({ role }) => role === 'decode');
    const client = await RawClient.post(router.api, '/v1/completions', { model: 'm', prompt: 'x' });
    await eventually('prefill runs', () => prefills.length === 1);
    decode.healthStatus = 503;
    await router.admin.call('POST', `/api/v1/workers/${before!.id}/evict`, { reason: 'test', quarantineSecs: 0, force: true });
    await eventually('a gated successor', async () => ((await router.admin.worker('decode', decode.url))?.generation ?? 0) > before!.generation);
    prefills[0]!();
    await eventually('waiting', async () => (await router.admin.worker('prefill', prefill.url))!.holds.kvOut === 1);
    await pause(200);
    const leftMs = performance.now();
    client.leave(how);
    await measured('all leases and holds released', leftMs, async () => await nothingHeld(router));
    decode.healthStatus = 200;
    await router.admin.selectable({ prefill: 1, decode: 1 });
    expect(decode.inference()).toEqual([]);
    await settled(router);
    client.leave('close');
  });

  it('between reserve and the prefill call: the prefill engine never hears of it', async () => {
    const prefill = await started.engine(['--role', 'prefill', '--connector', 'nixl']);
    const decode = await started.engine(['--role', 'decode', '--connector', 'nixl']);
    const router = await started.router(['--prefill', prefill.url, '--decode', decode.url]);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const thaw = started.add(await freeze(prefill), (end) => end());
    const client = await RawClient.post(router.api, '/v1/completions', { model: 'sim-model', prompt: 'x' });
    // The connector is not known yet, so decode is bound as well.
    await eventually('reserved', async () => {
      const workers = await router.admin.workers();
      return workers.find(({ role }) => role === 'prefill')!.load === 1 && workers.find(({ role }) => role === 'decode')!.holds.bound === 1;
    });
    const leftMs = performance.now();
    client.leave('close');
    await measured('all leases and holds released', leftMs, async () => await nothingHeld(router));
    thaw();
    await eventually('the prefill engine is back', async () => (await prefill.state()).role === 'prefill');
    await pause(1_500);
    for (const engine of [prefill, decode]) expect((await engine.requests()).filter(({ method }) => method === 'POST')).toEqual([]);
    await settled(router);
  });

  it.each(leavings)('between the legs, by %s: the decode engine never hears of it', async (how) => {
    const prefill = await started.engine(['--role', 'prefill', '--connector', 'nixl']);
    const decode = await started.engine(['--role', 'decode', '--connector', 'nixl']);
    const router = await started.router(['--prefill', prefill.url, '--decode', decode.url, '--kv-connector', 'nixl']);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const thaw = started.add(await freeze(decode), (end) => end());
    const client = await RawClient.post(router.api, '/v1/completions', { model: 'sim-model', prompt: 'x', stream: true });
    await eventually('prefill done, decode not reached', async () => {
      const workers = await router.admin.workers();
      return workers.find(({ role }) => role === 'prefill')!.holds.kvOut === 1 && workers.find(({ role }) => role === 'decode')!.load === 1;
    });
    const leftMs = performance.now();
    client.leave(how);
    await measured('all leases and holds released', leftMs, async () => await nothingHeld(router));
    thaw();
    await eventually('the decode engine is back', async () => (await decode.state()).role === 'decode');
    await pause(1_500);
    expect((await decode.requests()).filter(({ method }) => method === 'POST')).toEqual([]);
    await settled(router);
    client.leave('close');
  });
});

describe('13: shutdown', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  it('ends requests in every state as a failing engine would, closes the engines and exits 0', async () => {
    const calls: EngineCall[] = [];
    const engine = started.add(
      await ScriptedEngine.start({
        handle: (call, res) => {
          calls.push(call);
          if (isPrefillLeg(call)) {
            if (!call.body.includes('in prefill')) answerJson(res, completion('x'));
            return;
          }
          if (call.body.includes('head sent')) startEvents(res);
          if (call.body.includes('mid-stream')) {
            startEvents(res);
            res.write(event('first'));
          }
          if (call.body.includes('mid-body')) {
            res.writeHead(200, { 'content-type': 'application/json', 'content-length': '200000' });
            res.write(`{"first":"${'x'.repeat(100_000)}`);
          }
        },
      }),
      (it) => it.stop(),
    );
    const gated = started.add(await ScriptedEngine.start({ models: ['other'] }), (it) => it.stop());
    gated.healthStatus = 503;
    const router = await started.router(['--prefill', engine.url, '--decode', engine.url, '--worker-url', gated.url, '--shutdown-grace-secs', '0.5', '--gate-wait-secs', '10']);
    await router.admin.selectable({ prefill: 1, decode: 1, regular: 0 });
    const send = async (prompt: string, model = 'm'): ReturnType<typeof exchange> => await exchange(router.api, '/v1/completions', { model, prompt, ...(prompt === 'mid-body' ? {} : { stream: true }) });
    const unanswered = ['in prefill', 'before the first byte', 'before the first byte, head sent'].map((prompt) => send(prompt));
    unanswered.push(send('queued for the gated worker', 'other'));
    const stream = send('mid-stream');
    const whole = send('mid-body');
    const uploading = await RawClient.post(router.api, '/v1/completions', { model: 'm', prompt: 'x'.repeat(1000) }, { sent: 500 });
    await eventually('everyone in place', async () => calls.length === 9 && (await inflight(router)) === 6);
    const ending = router.stop();

    for (const answer of await Promise.all(unanswered)) {
      expect(answer).toMatchObject({ status: 503, complete: true, headers: { 'x-switchyard-error': 'shutting_down', connection: 'close' } });
      expect(JSON.parse(answer.text).error).toMatchObject({ type: 'server_error', code: 'shutting_down' });
    }
    const cut = await stream;
    expect(cut).toMatchObject({ status: 200, complete: false });
    expect(cut.text.startsWith(event('first'))).toBe(true);
    expect(JSON.parse(cut.text.slice(event('first').length).replace('data: ', '')).error).toMatchObject({ type: 'server_error', code: 'upstream_stream_error' });
    expect(await whole).toMatchObject({ status: 200, complete: false });
    await uploading.until('503');
    expect(uploading.received.toString()).toContain('shutting_down');
    expect(await ending).toBe(0);
    await eventually('all engine connections closed', () => calls.filter((call) => !isPrefillLeg(call) || call.body.includes('in prefill')).every((call) => call.abortedAfterMs !== null));
    complainOfFaults(router);
  });

  it('lets a slow reader have the rest of an answer that the engine has finished', async () => {
    const text = 'x'.repeat(8_000_000);
    const engine = started.add(await ScriptedEngine.start({ handle: (_call, res) => answerJson(res, { text }) }), (it) => it.stop());
    const router = await started.router(['--worker-url', engine.url, '--shutdown-grace-secs', '10']);
    await router.admin.selectable({ regular: 1 });
    const client = await RawClient.post(router.api, '/v1/completions', { model: 'm', prompt: 'x' });
    await client.until('xxx');
    client.socket.pause();
    await pause(300);
    const ending = router.stop();
    await pause(2_000);
    client.socket.resume();
    await eventually('the whole answer', () => client.received.subarray(-2).toString() === '"}');
    expect(client.received.length).toBeGreaterThan(text.length);
    expect(await ending).toBe(0);
  });
});
