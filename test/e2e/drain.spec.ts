import { randomUUID } from 'node:crypto';

import { eventually, pause } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { Pinger } from '../support/pinger.js';
import { type RouterProcess, withTemporaryDirectory } from '../support/router-process.js';
import { answerJson, completion, event, isPrefillLeg, ScriptedEngine, startEvents } from '../support/scripted-engine.js';

const ttlSecs = '1.5';

describe('drain, evict and what they promise', () => {
  const started = new Started();
  const pingers: Pinger[] = [];
  afterEach(async () => {
    for (const pinger of pingers.splice(0)) pinger.close();
    await started.end();
  });

  async function scripted(options: Parameters<typeof ScriptedEngine.start>[0] = {}): Promise<ScriptedEngine> {
    return started.add(await ScriptedEngine.start(options), (engine) => engine.stop());
  }

  function pinger(router: RouterProcess): Pinger {
    const made = new Pinger(router.discovery);
    pingers.push(made);
    return made;
  }

  async function read(response: Response): Promise<string> {
    return await response.text();
  }

  /** An engine whose streams send one event and end on `release`; prefills wait for `releasePrefills` when `holdPrefill`. */
  async function streaming(): Promise<{
    engine: ScriptedEngine;
    open: Set<() => void>;
    prefills: Set<() => void>;
    hold: { prefill: boolean; firstByte: boolean };
  }> {
    const open = new Set<() => void>();
    const prefills = new Set<() => void>();
    const hold = { prefill: false, firstByte: false };
    const engine = await scripted({
      handle: (call, res) => {
        if (isPrefillLeg(call)) {
          const answer = (): void => answerJson(res, completion('x'));
          if (hold.prefill) prefills.add(answer);
          else answer();
          return;
        }
        startEvents(res);
        const begin = (): void => {
          res.write(event('one'));
          open.add(() => res.end(`${event('two')}data: [DONE]\n\n`));
        };
        if (hold.firstByte) prefills.add(begin);
        else begin();
      },
    });
    return { engine, open, prefills, hold };
  }

  const whole = `${event('one')}${event('two')}data: [DONE]\n\n`;

  it('16: 20 open streams finish byte-exact on a draining worker, nothing new goes there, then it is drained', async () => {
    const a = await streaming();
    const b = await streaming();
    const router = await started.router(['--prefill', a.engine.url, b.engine.url, '--decode', a.engine.url, b.engine.url, '--decode-policy', 'round_robin']);
    await router.admin.selectable({ prefill: 2, decode: 2 });
    const post = async (): Promise<Response> => await router.post('/v1/completions', { model: 'm', prompt: randomUUID(), stream: true });
    const forty = await Promise.all(Array.from({ length: 40 }, post));
    await eventually('streams on both', () => a.open.size === 20 && b.open.size === 20);

    const worker = (await router.admin.worker('decode', a.engine.url))!;
    const drain = await router.admin.call('POST', `/api/v1/workers/${worker.id}/drain`, { reason: 'kernel upgrade' });
    expect(drain).toMatchObject({ status: 200, json: { adminState: 'draining', selectable: false, safeToStop: false, drain: { reason: 'kernel upgrade', until: 'restart' } } });
    const again = await router.admin.call('POST', `/api/v1/workers/${worker.id}/drain`, { reason: 'kernel upgrade' });
    expect([again.status, again.json.drain.since]).toEqual([200, drain.json.drain.since]);
    const more = await Promise.all(Array.from({ length: 6 }, post));
    await eventually('new streams elsewhere', () => b.open.size === 26);
    expect(a.open.size).toBe(20);

    const waiting = router.admin.call('POST', `/api/v1/workers/${worker.id}/drain?waitSecs=10`, {});
    for (const end of [...a.open, ...b.open]) end();
    for (const response of [...forty, ...more]) expect(await read(response)).toBe(whole);
    expect(await waiting).toMatchObject({ status: 200, json: { adminState: 'drained', load: 0, safeToStop: false } });
    // The same machine still takes prefill work.
    await router.admin.call('POST', `/api/v1/endpoints/drain?waitSecs=5`, { endpoint: a.engine.url });
    expect(await router.admin.worker('decode', a.engine.url)).toMatchObject({ adminState: 'drained', safeToStop: true });

    const undrained = await router.admin.call('POST', `/api/v1/workers/${worker.id}/undrain`);
    expect(undrained).toMatchObject({ status: 200, json: { adminState: 'ready', drain: null, selectable: true, safeToStop: false } });
    expect((await router.admin.call('POST', `/api/v1/workers/${worker.id}/undrain`)).status).toBe(200);
  });

  it('16: a prefill worker drained between the legs is not drained before the first decode byte', async () => {
    const p = await streaming();
    const spare = await scripted();
    const d = await streaming();
    const router = await started.router(['--prefill', p.engine.url, '--decode', d.engine.url]);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    d.hold.firstByte = true;
    const response = router.post('/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('decode holds its first byte', () => d.prefills.size === 1);
    await router.admin.call('POST', '/api/v1/workers', { role: 'prefill', url: spare.url });
    await router.admin.selectable({ prefill: 2, decode: 1 });
    const worker = (await router.admin.worker('prefill', p.engine.url))!;
    expect(worker).toMatchObject({ load: 0, holds: { kvOut: 1, bound: 0 } });
    const drain = await router.admin.call('POST', `/api/v1/workers/${worker.id}/drain`, {});
    expect(drain.json).toMatchObject({ adminState: 'draining', holds: { kvOut: 1 } });
    await pause(300);
    expect((await router.admin.worker('prefill', p.engine.url))!.adminState).toBe('draining');
    for (const begin of d.prefills) begin();
    await eventually('drained', async () => (await router.admin.worker('prefill', p.engine.url))!.adminState === 'drained');
    for (const end of d.open) end();
    expect(await read(await response)).toBe(whole);
    await router.admin.quiet();
  });

  it('16: a decode worker drained during a P2P prefill still gets its request, and is drained after it', async () => {
    const p = await streaming();
    const d = await streaming();
    const spare = await scripted();
    const router = await started.router(['--prefill', p.engine.url, '--decode', d.engine.url, '--kv-connector', 'p2p-nccl']);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    p.engine.handle = (_call, res) => void p.prefills.add(() => answerJson(res, completion('x')));
    const response = router.post('/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('prefill runs', () => p.prefills.size === 1);
    await router.admin.call('POST', '/api/v1/workers', { role: 'decode', url: spare.url });
    await router.admin.selectable({ prefill: 1, decode: 2 });
    const worker = (await router.admin.worker('decode', d.engine.url))!;
    expect(worker).toMatchObject({ load: 0, pressure: 1, holds: { kvOut: 0, bound: 1 } });
    expect((await router.admin.call('POST', `/api/v1/workers/${worker.id}/drain`, {})).json.adminState).toBe('draining');
    for (const answer of p.prefills) answer();
    await eventually('decode runs', () => d.open.size === 1);
    expect(await router.admin.worker('decode', d.engine.url)).toMatchObject({ adminState: 'draining', load: 1 });
    for (const end of d.open) end();
    expect(await read(await response)).toBe(whole);
    await eventually('drained', async () => (await router.admin.worker('decode', d.engine.url))!.adminState === 'drained');
  });

  it('16: silence and the same pings keep a drain, also while the old generation streams; a new process ends it', async () => {
    const a = await streaming();
    const spare = await scripted();
    const router = await started.router(['--registration-ttl-secs', ttlSecs, '--prefill', spare.url, '--decode', spare.url, '--decode-policy', 'round_robin']);
    const d = pinger(router);
    const map = { type: 'D', http_address: a.engine.address, zmq_address: '127.0.0.1:23001', instance: 'one' } as const;
    await d.keepPinging(map, 200);
    await router.admin.selectable({ prefill: 1, decode: 2 });
    const streams = await Promise.all(Array.from({ length: 2 }, async () => await router.post('/v1/completions', { model: 'm', prompt: randomUUID(), stream: true })));
    await eventually('a stream on the pinging one', () => a.open.size === 1);
    const old = (await router.admin.worker('decode', a.engine.url))!;
    await router.admin.call('POST', `/api/v1/workers/${old.id}/drain`, {});

    d.silence();
    await eventually('expiry', async () => (await router.admin.worker('decode', a.engine.url)) === undefined);
    await d.keepPinging(map, 200);
    const back = await eventually('return', async () => await router.admin.worker('decode', a.engine.url));
    expect(back.generation).toBeGreaterThan(old.generation);
    await pause(600);
    expect(await router.admin.worker('decode', a.engine.url)).toMatchObject({ adminState: 'draining', departedWork: { leases: 1, holds: 0 }, safeToStop: false });
    for (const end of a.open) end();
    for (const response of streams) await read(response);
    await eventually('drained', async () => (await router.admin.worker('decode', a.engine.url))!.adminState === 'drained');

    await d.keepPinging({ ...map, instance: 'two' }, 200);
    await eventually('ready', async () => {
      const worker = await router.admin.worker('decode', a.engine.url);
      return worker?.adminState === 'ready' && worker.selectable;
    });
    expect((await router.admin.get('/api/v1/drains')).items).toEqual([]);
  });

  it('16: cordon stays over a new process until undrain', async () => {
    const a = await scripted();
    const spare = await scripted();
    const router = await started.router(['--worker-url', spare.url, '--health-check-interval-secs', '0.3']);
    await router.admin.selectable({ regular: 1 });
    await router.admin.call('POST', '/api/v1/workers', { role: 'regular', url: a.url });
    await router.admin.selectable({ regular: 2 });
    expect((await router.admin.call('POST', '/api/v1/endpoints/cordon', { endpoint: a.url })).status).toBe(200);
    const before = (await router.admin.worker('regular', a.url))!.generation;
    a.startedAtSecs! += 100;
    await eventually('a new generation', async () => ((await router.admin.worker('regular', a.url))?.generation ?? 0) > before);
    await pause(500);
    expect((await router.admin.worker('regular', a.url))!.adminState).toBe('drained');
    expect((await router.admin.call('POST', '/api/v1/endpoints/uncordon', { endpoint: a.url })).status).toBe(200);
    await router.admin.selectable({ regular: 2 });
  });

  it('16: the last selectable worker is refused with a remedy, and forced when asked', async () => {
    const [p, d] = [await scripted(), await scripted()];
    const router = await started.router(['--prefill', p.url, '--decode', d.url]);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const worker = (await router.admin.worker('prefill', p.url))!;
    for (const call of [
      () => router.admin.call('POST', `/api/v1/workers/${worker.id}/drain`, {}),
      () => router.admin.call('POST', `/api/v1/workers/${worker.id}/evict`, { reason: 'test' }),
    ]) {
      const refused = await call();
      expect(refused).toMatchObject({
        status: 409,
        json: { error: { code: 'last_selectable_worker', remedy: expect.any(String), details: { role: 'prefill', model: 'm', selectable: 1 } } },
      });
    }
    expect((await router.admin.workers()).every(({ selectable }) => selectable)).toBe(true);
    expect((await router.admin.call('POST', `/api/v1/workers/${worker.id}/drain`, { force: true })).json.adminState).toBe('drained');
  });

  it('16: evict holds against heartbeats, readmit brings back; intents and quarantine survive a restart of the router', async () => {
    await withTemporaryDirectory(async (dataDir) => {
      const [a, b, c] = [await scripted(), await scripted(), await scripted()];
      const flags = ['--worker-url', c.url, '--registration-ttl-secs', '3'];
      let router = await started.router(flags, { dataDir });
      let d = pinger(router);
      const maps = [a, b].map((engine, index) => ({ type: 'D' as const, http_address: engine.address, zmq_address: `127.0.0.1:${String(24_000 + index)}` }));
      const keepPinging = async (): Promise<void> => {
        for (const map of maps) await d.ping(map);
      };
      await keepPinging();
      await router.admin.selectable({ decode: 2, regular: 1 });
      const [first, second] = [(await router.admin.worker('decode', a.url))!, (await router.admin.worker('decode', b.url))!];
      const evicted = await router.admin.call('POST', `/api/v1/workers/${first.id}/evict`, { reason: 'bad memory', quarantineSecs: 300 });
      expect(evicted).toMatchObject({ status: 200, json: { id: first.id, inflight: 0, quarantinedUntil: expect.stringMatching(/^\d{4}-.*Z$/) } });
      await router.admin.call('POST', `/api/v1/workers/${second.id}/drain`, { reason: 'disk', until: 'undrain' });
      await keepPinging();
      await pause(400);
      expect(await router.admin.worker('decode', a.url)).toBeUndefined();
      expect((await router.admin.call('POST', '/api/v1/workers', { role: 'decode', url: a.url })).json.error).toMatchObject({ code: 'quarantined', remedy: expect.stringContaining('/api/v1/quarantine/decode/') });

      const highest = Math.max(...(await router.admin.workers()).map(({ generation }) => generation));
      expect(await router.stop()).toBe(0);
      router = await started.router(flags, { dataDir });
      d = pinger(router);
      await keepPinging();
      await router.admin.selectable({ regular: 1 });
      const cordoned = await eventually('the drained one', async () => await router.admin.worker('decode', b.url));
      expect(cordoned).toMatchObject({ adminState: 'drained', drain: { reason: 'disk', until: 'undrain' } });
      expect(cordoned.generation).toBeGreaterThan(highest);
      expect(await router.admin.worker('decode', a.url)).toBeUndefined();
      expect((await router.admin.get('/api/v1/quarantine')).items).toMatchObject([{ role: 'decode', endpoint: a.url, reason: 'bad memory' }]);

      expect((await router.admin.call('DELETE', `/api/v1/quarantine/decode/${encodeURIComponent(a.url)}`)).status).toBe(204);
      await keepPinging();
      await eventually('readmitted', async () => (await router.admin.worker('decode', a.url))?.selectable === true);
    });
  });
});
