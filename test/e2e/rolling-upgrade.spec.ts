import { setTimeout as sleep } from 'node:timers/promises';

import { type EngineProcess } from '../support/engine-process.js';
import { eventually } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { freePort } from '../support/free-port.js';
import { operatorToken, type RouterProcess } from '../support/router-process.js';
import { switchyard } from '../support/switchyard-cli.js';
import { Traffic } from '../support/traffic.js';

type Role = 'prefill' | 'decode';

/** Pings come three times in a TTL, as with vLLM's 3 s and the default of 10 s. */
const discoveryFlags = ['--registration-ttl-secs', '1.5', '--health-check-interval-secs', '0.5'];

describe('old and new engine versions', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  async function start(router: RouterProcess, role: Role, version: string, flags: readonly string[]): Promise<EngineProcess> {
    return await started.engine([
      ...['--role', role, '--router', router.discovery, '--ping-interval-secs', '0.5', '--vllm-version', version, '--decode-ms-per-token', '5'],
      ...flags,
    ]);
  }

  async function violations(engines: readonly EngineProcess[]): Promise<unknown[]> {
    return (await Promise.all(engines.map(async (engine) => (await engine.state()).violations as unknown[]))).flat();
  }

  const drain = (router: RouterProcess, engine: EngineProcess, ...more: readonly string[]) =>
    switchyard(['drain', engine.address, '--admin', `http://${router.adminAddress}`, '--token', operatorToken, '--reason', 'upgrade', ...more]);

  it.each(['nixl', 'p2p-nccl'])('17: side by side they are never paired (%s)', async (connector) => {
    const router = await started.router([...discoveryFlags, '--expose-route-headers']);
    const engines: EngineProcess[] = [];
    for (const version of ['0.11.0', '0.12.0']) {
      for (const role of ['prefill', 'decode'] as const) engines.push(await start(router, role, version, ['--connector', connector]));
    }
    const workers = await router.admin.selectable({ prefill: 2, decode: 2 });
    const groupOf = new Map(workers.map(({ id, group }) => [id, group]));
    expect([...groupOf.values()].sort()).toEqual(['0.11.0', '0.11.0', '0.12.0', '0.12.0']);
    const used = new Set<string>();
    await Promise.all(
      Array.from({ length: 80 }, async (_, index) => {
        const response = await router.post('/v1/completions', { model: 'sim-model', prompt: `${String(index)} question`, max_tokens: 3 });
        expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
        const [prefill, decode] = [response.headers.get('x-switchyard-prefill')!, response.headers.get('x-switchyard-decode')!];
        expect([groupOf.has(prefill), groupOf.get(prefill)]).toEqual([true, groupOf.get(decode)]);
        used.add(groupOf.get(prefill)!);
      }),
    );
    expect([...used].sort()).toEqual(['0.11.0', '0.12.0']);
    expect(await violations(engines)).toEqual([]);
  });

  it('17: every engine upgraded in turn by drain --wait, stop, start, under traffic: no request is lost', async () => {
    const router = await started.router(discoveryFlags);
    const fleet: { role: Role; engine: EngineProcess; flags: readonly string[]; startedAtMs: number }[] = [];
    for (let index = 0; index < 3; index += 1) {
      for (const role of ['prefill', 'decode'] as const) {
        // Prefill engines come back with the ZMQ address they had, as P2P NCCL ones do; only their start time tells.
        const zmq = role === 'prefill' ? ['--zmq-address', `127.0.0.1:${String(await freePort())}`] : [];
        const flags = ['--connector', 'nixl', ...zmq];
        const engine = await start(router, role, '0.11.0', flags);
        fleet.push({ role, engine, flags: [...flags, '--port', String(engine.port)], startedAtMs: performance.now() });
      }
    }
    await router.admin.selectable({ prefill: 3, decode: 3 });
    const traffic = new Traffic(router, { model: 'sim-model', loops: 8, maxTokens: 20 });
    const past: EngineProcess[] = [];
    const seen: unknown[] = [];
    try {
      for (const member of fleet) {
        const { engine: old, startedAtMs } = member;
        const ended = await drain(router, old, '--wait', '30');
        expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('drained, safe to stop') });
        seen.push(...(await violations([old])));
        await old.stop();
        past.push(old);
        const before = (await router.admin.worker(member.role, old.address))?.generation ?? 0;
        // Starts within two seconds of each other may be one start read twice: they prove no new process.
        await sleep(Math.max(0, startedAtMs + 2_500 - performance.now()));
        member.engine = await start(router, member.role, '0.12.0', member.flags);
        expect(member.engine.address).toBe(old.address);
        await eventually(
          `${member.role} is back with its new version`,
          async () => {
            const worker = await router.admin.worker(member.role, old.address);
            return worker?.selectable === true && worker.group === '0.12.0' && worker.generation > before;
          },
          15_000,
        );
        await sleep(200);
      }
    } finally {
      await traffic.stop();
    }
    expect(traffic.failures.slice(0, 5)).toEqual([]);
    expect(traffic.completed).toBeGreaterThan(100);
    expect([...seen, ...(await violations(fleet.map(({ engine }) => engine)))]).toEqual([]);
    const after = await router.admin.quiet();
    expect(after.map(({ group, adminState, selectable }) => [group, adminState, selectable])).toEqual(after.map(() => ['0.12.0', 'ready', true]));
    expect((await router.admin.get('/api/v1/drains')).items).toEqual([]);
    expect((await router.admin.get('/api/v1/events?type=drain&limit=100')).items).toHaveLength(6);
  });

  it('17: a step that would leave no pair of one version is refused, though each role keeps a worker', async () => {
    const router = await started.router(discoveryFlags);
    const oldPrefill = await start(router, 'prefill', '0.11.0', ['--connector', 'nixl']);
    const oldDecode = await start(router, 'decode', '0.11.0', ['--connector', 'nixl']);
    await start(router, 'prefill', '0.12.0', ['--connector', 'nixl']);
    await router.admin.selectable({ prefill: 2, decode: 1 });
    for (const engine of [oldPrefill, oldDecode]) {
      const refused = await drain(router, engine, '--wait', '5');
      expect(refused).toMatchObject({ code: 1, out: '' });
      expect(refused.err).toContain('last_selectable_worker');
    }
    const worker = (await router.admin.worker('prefill', oldPrefill.address))!;
    expect(await router.admin.call('POST', `/api/v1/workers/${worker.id}/drain`, {})).toMatchObject({
      status: 409,
      json: { error: { code: 'last_selectable_worker', details: { role: 'prefill', model: 'sim-model', group: '0.11.0', selectable: 1 } } },
    });
    expect((await router.admin.get('/api/v1/drains')).items).toEqual([]);
    expect((await router.post('/v1/completions', { model: 'sim-model', prompt: 'x', max_tokens: 2 })).status).toBe(200);

    await start(router, 'decode', '0.12.0', ['--connector', 'nixl']);
    await router.admin.selectable({ prefill: 2, decode: 2 });
    expect((await drain(router, oldPrefill, '--wait', '10')).code).toBe(0);
    expect((await drain(router, oldDecode, '--wait', '10')).code).toBe(0);
    expect((await router.post('/v1/completions', { model: 'sim-model', prompt: 'x', max_tokens: 2 })).status).toBe(200);
  });

  it('17: drain says what it does: exit 3 when the wait is over, 1 for what it cannot reach, 2 for what is no endpoint', async () => {
    const router = await started.router(discoveryFlags);
    for (const role of ['prefill', 'decode'] as const) for (let n = 0; n < 2; n += 1) await start(router, role, '0.11.0', ['--connector', 'nixl', '--output-tokens', '100000']);
    await router.admin.selectable({ prefill: 2, decode: 2 });
    const streams = await Promise.all(
      Array.from({ length: 4 }, async () => await router.post('/v1/completions', { model: 'sim-model', prompt: 'x', max_tokens: 2_000, stream: true })),
    );
    const busy = (await router.admin.workers()).find(({ role, load }) => role === 'decode' && load > 0)!;
    const flags = ['--admin', `http://${router.adminAddress}`, '--token', operatorToken];
    const late = await switchyard(['drain', busy.endpoint, ...flags, '--wait', '0.3']);
    expect(late).toMatchObject({ code: 3, err: expect.stringContaining('not drained after 0.3 s') });
    for (const stream of streams) await stream.body?.cancel();
    expect((await switchyard(['drain', busy.endpoint, ...flags, '--wait', '10'])).code).toBe(0);
    expect((await switchyard(['undrain', busy.endpoint, ...flags])).code).toBe(0);

    expect(await switchyard(['drain', '127.0.0.1:1', ...flags])).toMatchObject({ code: 1, err: expect.stringContaining('unknown_endpoint') });
    expect(await switchyard(['drain', busy.endpoint, '--admin', 'http://127.0.0.1:1', '--token', 'x'])).toMatchObject({ code: 1, err: expect.stringContaining('cannot reach') });
    expect(await switchyard(['drain', busy.endpoint, ...flags.slice(0, 2), '--token', 'wrong'])).toMatchObject({ code: 1, err: expect.stringContaining('token') });
    expect((await switchyard(['drain', 'not an endpoint', ...flags])).code).toBe(2);
    expect((await switchyard(['drain', ...flags])).code).toBe(2);
    expect((await switchyard(['workers', ...flags])).out).toContain(busy.endpoint);
    expect((await switchyard(['status', ...flags])).out).toContain('prefill/decode pairs');
  });
});
