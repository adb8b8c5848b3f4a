import { randomUUID } from 'node:crypto';

import { eventually, pause } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { Pinger } from '../support/pinger.js';
import { type RouterProcess } from '../support/router-process.js';
import { answerJson, completion, type EngineCall, event, isPrefillLeg, ScriptedEngine, startEvents } from '../support/scripted-engine.js';

/** Scaled from 10 s, so that expiry is quick. */
const ttlSecs = '1.5';

/** Answers both legs at once; streams wait for `release` before they end. */
function servant(): { engine: (call: EngineCall, res: Parameters<ScriptedEngine['handle']>[1]) => void; release: () => void; open: () => number } {
  const open = new Set<() => void>();
  return {
    engine: (call, res) => {
      if (isPrefillLeg(call) || !call.body.includes('"stream":true')) {
        answerJson(res, completion('x'));
        return;
      }
      startEvents(res);
      res.write(event('first'));
      open.add(() => res.end('data: [DONE]\n\n'));
    },
    release: () => {
      for (const end of open) end();
      open.clear();
    },
    open: () => open.size,
  };
}

describe('the life of a worker', () => {
  const started = new Started();
  const pingers: Pinger[] = [];
  afterEach(async () => {
    for (const pinger of pingers.splice(0)) pinger.close();
    await started.end();
  });

  async function scripted(options: Parameters<typeof ScriptedEngine.start>[0] = {}): Promise<ScriptedEngine> {
    return started.add(await ScriptedEngine.start(options), (engine) => engine.stop());
  }

  function pinger(router: RouterProcess, identity?: string): Pinger {
    const made = new Pinger(router.discovery, identity);
    pingers.push(made);
    return made;
  }

  async function complete(router: RouterProcess, prompt = 'hi'): Promise<string> {
    const id = `t-${randomUUID()}`;
    const response = await router.post('/v1/completions', { model: 'm', prompt }, { headers: { 'x-request-id': id } });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    return id;
  }

  async function stream(router: RouterProcess): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    const response = await router.post('/v1/completions', { model: 'm', prompt: 'hi', stream: true });
    expect(response.status).toBe(200);
    const reader = response.body!.getReader();
    await reader.read();
    return reader;
  }

  async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += Buffer.from(value).toString();
    }
  }

  it('1: selections of one continuously registered endpoint use one worker', async () => {
    const router = await started.router(['--registration-ttl-secs', ttlSecs]);
    const engine = await scripted();
    const p = pinger(router);
    const d = pinger(router);
    await p.keepPinging({ type: 'P', http_address: engine.address, zmq_address: '127.0.0.1:21001' }, 200);
    await d.keepPinging({ type: 'D', http_address: engine.address, zmq_address: '127.0.0.1:22001' }, 200);
    const before = await router.admin.selectable({ prefill: 1, decode: 1 });

    const processed: Record<string, number[]> = { prefill: [], decode: [] };
    for (let round = 0; round < 12; round += 1) {
      const { attempts } = await router.admin.receipt(await complete(router, `prompt ${String(round)}`));
      for (const attempt of attempts) {
        expect(attempt.candidates).toHaveLength(1);
        expect(attempt.chosen).toBe(before.find((worker) => worker.role === attempt.phase)!.id);
        processed[attempt.phase]!.push(attempt.candidates[0].processed);
      }
      if (round === 6) await pause(700);
    }
    const rising = Array.from({ length: 12 }, (_, index) => index);
    expect(processed).toEqual({ prefill: rising, decode: rising });
    const after = await router.admin.workers();
    expect(after.map(({ id, circuit, load, succeeded }) => ({ id, circuit, load, succeeded }))).toEqual(
      before.map(({ id }) => ({ id, circuit: 'closed', load: 0, succeeded: 12 })),
    );
  });

  it('2: the same URL as prefill and as decode is two workers with separate loads', async () => {
    const router = await started.router(['--registration-ttl-secs', ttlSecs]);
    const { engine: handle, release, open } = servant();
    const engine = await scripted({ handle });
    const one = pinger(router, '127.0.0.1:21002');
    const both = [
      { type: 'P', http_address: engine.address, zmq_address: '127.0.0.1:21002' },
      { type: 'D', http_address: engine.address, zmq_address: '127.0.0.1:22002' },
    ] as const;
    for (const map of both) await one.ping(map);
    const before = await router.admin.selectable({ prefill: 1, decode: 1 });
    for (let round = 0; round < 20; round += 1) {
      await one.ping(both[round % 2]!);
      await pause(50);
    }
    expect((await router.admin.workers()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));

    for (const map of both) await one.ping(map);
    const readers = await Promise.all(Array.from({ length: 3 }, () => stream(router)));
    await eventually('three streams', () => open() === 3);
    for (const map of both) await one.ping(map);
    const loads = Object.fromEntries((await router.admin.workers()).map(({ role, load }) => [role, load]));
    expect(loads).toEqual({ prefill: 0, decode: 3 });
    release();
    await Promise.all(readers.map(readAll));
    await router.admin.quiet();
  });

  it('4: heartbeats keep a generation; silence, a new address, instance or start time end it; idle sockets do not', async () => {
    const router = await started.router(['--registration-ttl-secs', ttlSecs, '--health-check-interval-secs', '0.3']);
    const engine = await scripted();
    const decode = pinger(router);
    await decode.keepPinging({ type: 'D', http_address: engine.address, zmq_address: '127.0.0.1:22003' }, 200);
    const p = pinger(router);
    const map = { type: 'P', http_address: engine.address, zmq_address: '127.0.0.1:21003' } as const;
    await p.keepPinging(map, 200);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const generation = async (): Promise<number> => (await router.admin.worker('prefill', engine.address))!.generation;
    const newer = async (than: number): Promise<number> => await eventually('a newer generation', async () => ((await generation()) > than ? await generation() : null));
    const first = await generation();

    const prefix = 'the same long prefix '.repeat(40);
    await complete(router, prefix);
    expect((await router.admin.worker('prefill', engine.address))!.cache.coveredBytes).toBeGreaterThan(0);
    for (const socket of engine.sockets) socket.destroy();
    await pause(1_000);
    expect(await generation()).toBe(first);

    p.silence();
    await eventually('expiry', async () => (await router.admin.worker('prefill', engine.address)) === undefined);
    await p.keepPinging(map, 200);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const second = await generation();
    expect(second).toBeGreaterThan(first);
    expect(await router.admin.worker('prefill', engine.address)).toMatchObject({
      load: 0,
      processed: 0,
      circuit: 'closed',
      cache: { coveredBytes: 0 },
    });

    await p.keepPinging({ ...map, zmq_address: '127.0.0.1:21999' }, 200);
    const third = await newer(second);
    await p.keepPinging({ ...map, zmq_address: '127.0.0.1:21999', instance: 'a' }, 200);
    await pause(600);
    expect(await generation()).toBe(third);
    await p.keepPinging({ ...map, zmq_address: '127.0.0.1:21999', instance: 'b' }, 200);
    const fourth = await newer(third);
    await router.admin.selectable({ prefill: 1, decode: 1 });

    engine.startedAtSecs = engine.startedAtSecs! + 1;
    await pause(800);
    expect(await generation()).toBe(fourth);
    engine.startedAtSecs += 60;
    await newer(fourth);
    const reasons = (await router.admin.get('/api/v1/events?limit=100')).items.map(({ type }: { type: string }) => type);
    expect(reasons).toEqual(expect.arrayContaining(['registered', 'expired', 'replaced']));
  });

  it('4: a NIXL engine id not seen before begins a new generation', async () => {
    let engineId = 'engine-a';
    const params = (): Record<string, unknown> => ({
      do_remote_prefill: true,
      do_remote_decode: false,
      remote_block_ids: [1],
      remote_engine_id: `${engineId}_dp0`,
      remote_host: '127.0.0.1',
      remote_port: 1,
    });
    const engine = await scripted({ handle: (call, res) => answerJson(res, completion('x', isPrefillLeg(call) ? { kv_transfer_params: params() } : {})) });
    const decode = await scripted();
    const router = await started.router(['--prefill', engine.url, '--decode', decode.url, '--kv-connector', 'nixl']);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const first = (await router.admin.worker('prefill', engine.url))!.generation;
    await complete(router, 'a');
    await complete(router, 'b');
    expect((await router.admin.worker('prefill', engine.url))!.generation).toBe(first);
    engineId = 'engine-b';
    // The answer came from another process than the one that was chosen: its hand-off is not used, prefill runs again.
    await complete(router, 'c');
    expect((await router.admin.worker('prefill', engine.url))!.generation).toBeGreaterThan(first);
    expect(decode.inference()).toHaveLength(3);
    await router.admin.quiet();
  });

  it('5: a stream begun on the old generation ends on it and never changes the new load', async () => {
    const router = await started.router(['--registration-ttl-secs', ttlSecs]);
    const { engine: handle, release, open } = servant();
    const engine = await scripted({ handle });
    const p = pinger(router);
    const d = pinger(router);
    await p.keepPinging({ type: 'P', http_address: engine.address, zmq_address: '127.0.0.1:21004' }, 200);
    await d.keepPinging({ type: 'D', http_address: engine.address, zmq_address: '127.0.0.1:22004' }, 200);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const old = (await router.admin.worker('decode', engine.address))!.id;
    const reader = await stream(router);
    await eventually('the stream', () => open() === 1);
    await d.keepPinging({ type: 'D', http_address: engine.address, zmq_address: '127.0.0.1:22999' }, 200);
    const fresh = await eventually('the next generation', async () => {
      const worker = await router.admin.worker('decode', engine.address);
      return worker?.id !== old && worker?.selectable === true ? worker : undefined;
    });
    expect(fresh.load).toBe(0);
    expect((await router.admin.get('/api/v1/departed')).items).toMatchObject([{ id: old, load: 1, leftReason: 'replaced' }]);
    const shown = await router.admin.get(`/api/v1/workers/${old}`);
    expect(shown.inflight).toHaveLength(1);

    release();
    expect(await readAll(reader)).toContain('[DONE]');
    await router.admin.quiet();
    expect(await router.admin.worker('decode', engine.address)).toMatchObject({ id: fresh.id, load: 0, processed: 0 });
    expect((await router.admin.call('GET', `/api/v1/workers/${old}`)).status).toBe(409);
  });

  it('6: no order of registrations pairs a worker with the addresses of another', async () => {
    const router = await started.router(['--registration-ttl-secs', '5']);
    const engines = await Promise.all(Array.from({ length: 6 }, () => scripted()));
    const one = pinger(router);
    const maps = engines.map((engine, index) => ({
      type: index < 3 ? ('P' as const) : ('D' as const),
      http_address: engine.address,
      zmq_address: `127.0.0.1:${String(21_100 + index)}`,
    }));
    const zmqOf = new Map(maps.map((map) => [map.http_address, map.zmq_address]));
    for (let round = 0; round < 8; round += 1) {
      const order = maps.map((map, index) => ({ map, key: (index * 7 + round * 5) % 11 })).sort((a, b) => a.key - b.key);
      for (const { map } of order) await one.ping(map);
      if (round === 0) await router.admin.selectable({ prefill: 3, decode: 3 });
      await Promise.all(Array.from({ length: 6 }, (_, index) => complete(router, `round ${String(round)} request ${String(index)}`)));
    }
    const ids = new Map<string, string[]>();
    for (const engine of engines) {
      for (const call of engine.inference()) {
        const id = call.headers['x-request-id'] as string;
        const match = /^___prefill_addr_(.+)___decode_addr_(.+)_[0-9a-f]{32}$/.exec(id)!;
        expect(isPrefillLeg(call) ? match[1] : match[2]).toBe(zmqOf.get(engine.address));
        ids.set(id, [...(ids.get(id) ?? []), engine.address]);
      }
    }
    expect(ids.size).toBe(48);
    expect([...ids.values()].every((legs) => legs.length === 2)).toBe(true);
  });
});
