import { EngineProcess } from '../support/engine-process.js';
import { eventually, pause } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { freePort } from '../support/free-port.js';
import { Pinger } from '../support/pinger.js';
import { type RouterProcess } from '../support/router-process.js';
import { ScriptedEngine } from '../support/scripted-engine.js';

describe('workers that are not ready, and the models of those that are', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  async function scripted(options: Parameters<typeof ScriptedEngine.start>[0] = {}): Promise<ScriptedEngine> {
    return started.add(await ScriptedEngine.start(options), (engine) => engine.stop());
  }

  async function ask(router: RouterProcess, model: string | undefined): Promise<{ status: number; code: string | undefined; ms: number; message: string }> {
    const begun = performance.now();
    const response = await router.post('/v1/completions', { ...(model === undefined ? {} : { model }), prompt: 'x', max_tokens: 2 });
    const body = (await response.json()) as { error?: { code: string; message: string } };
    expect(response.headers.get('x-switchyard-error') ?? undefined).toBe(body.error?.code);
    return { status: response.status, code: body.error?.code, ms: performance.now() - begun, message: body.error?.message ?? '' };
  }

  async function modelIds(router: RouterProcess): Promise<string[]> {
    const { data } = (await (await fetch(`${router.url}/v1/models`)).json()) as { data: { id: string }[] };
    return data.map(({ id }) => id).sort();
  }

  it('an engine that pings while it boots is listed but gated; a request waits for it and runs', async () => {
    const router = await started.router(['--gate-wait-secs', '10']);
    const ports = [await freePort(), await freePort()];
    const booting = (['prefill', 'decode'] as const).map((role, index) =>
      EngineProcess.start(['--role', role, '--router', router.discovery, '--connector', 'nixl', '--boot-secs', '3', '--port', String(ports[index])]),
    );
    await eventually('both are listed', async () => (await router.admin.workers()).length === 2);
    expect((await router.admin.workers()).map(({ health, selectable, unselectableBecause }) => [health, selectable, unselectableBecause])).toEqual([
      ['unknown', false, ['gated']],
      ['unknown', false, ['gated']],
    ]);
    expect(await (await fetch(`${router.url}/readiness`)).json()).toMatchObject({ status: 'unavailable', prefill: { selectable: 0, total: 1 }, decode: { selectable: 0, total: 1 } });
    const waiting = await ask(router, 'sim-model');
    expect(waiting).toMatchObject({ status: 200, code: undefined });
    expect(waiting.ms).toBeGreaterThan(500);
    for (const engine of await Promise.all(booting)) started.add(engine, (it) => it.stop());
    expect((await fetch(`${router.url}/readiness`)).status).toBe(200);
  });

  it('the wait for gated workers ends with a 503 that names them; nobody waits for an empty pool', async () => {
    const router = await started.router(['--gate-wait-secs', '0.6']);
    const none = await ask(router, 'm');
    expect(none).toMatchObject({ status: 503, code: 'no_available_workers' });
    expect(none.ms).toBeLessThan(500);
    const sender = started.add(new Pinger(router.discovery), (it) => it.close());
    const port = await freePort();
    for (const type of ['P', 'D'] as const) await sender.ping({ type, http_address: `127.0.0.1:${String(port)}`, zmq_address: `127.0.0.1:2600${type === 'P' ? '1' : '2'}` });
    await eventually('both are listed', async () => (await router.admin.workers()).length === 2);
    const gated = await ask(router, 'm');
    expect(gated).toMatchObject({ status: 503, code: 'no_available_workers', message: expect.stringContaining('prefill 0/1, decode 0/1, regular 0/0 selectable') });
    expect(gated.ms).toBeGreaterThan(500);
    expect(gated.ms).toBeLessThan(3_000);
  });

  it('a gated worker is taken within two ticks of its first good answer; without the gate at once', async () => {
    const engine = await scripted();
    engine.healthStatus = 503;
    const router = await started.router(['--worker-url', engine.url, '--health-check-interval-secs', '30']);
    await pause(500);
    expect(await router.admin.worker('regular', engine.url)).toMatchObject({ selectable: false, unselectableBecause: ['gated'] });
    engine.healthStatus = 200;
    await eventually('selectable', async () => (await router.admin.worker('regular', engine.url))!.selectable, 1_500);

    // It answers, badly: a refused connection would take it out for a moment, gate or not.
    const loading = await scripted();
    loading.healthStatus = 503;
    const open = await started.router(['--worker-url', loading.url, '--no-health-gate', '--health-check-interval-secs', '30']);
    expect(await open.admin.worker('regular', loading.url)).toMatchObject({ selectable: true });
  });

  it('engines without version, models or metrics pass the gate and match every model', async () => {
    const engine = await scripted({ models: [] });
    const router = await started.router(['--worker-url', engine.url]);
    await router.admin.selectable({ regular: 1 });
    expect(await router.admin.worker('regular', engine.url)).toMatchObject({ models: [], modelsKnown: false });
    expect(await modelIds(router)).toEqual([]);
    expect(await ask(router, 'anything')).toMatchObject({ status: 200 });
    engine.models = ['late'];
    expect((await router.admin.worker('regular', engine.url))!.selectable).toBe(true);
  });

  it('an engine whose probes hang is gated by /health alone: the rest has half a second', async () => {
    const engine = started.add(await EngineProcess.start(['--role', 'regular']), (it) => it.stop());
    for (const path of ['/version', '/v1/models', '/metrics']) await engine.fault({ kind: 'hang', path });
    const begun = Date.now();
    const router = await started.router(['--worker-url', engine.url]);
    await router.admin.selectable({ regular: 1 });
    expect(Date.now() - begun).toBeLessThan(6_000);
    expect(await router.admin.worker('regular', engine.url)).toMatchObject({ modelsKnown: false, group: '*', engine: null });
    await fetch(`${engine.url}/__sim/fault`, { method: 'DELETE' });
  });

  it('404 only when every worker of every role has known models and none matches; a match that is not selectable is 503', async () => {
    const [a, b, c] = [await scripted({ models: ['alpha', 'shared'] }), await scripted({ models: ['beta/two', 'shared'] }), await scripted({ models: ['gamma'] })];
    const router = await started.router(['--worker-url', a.url, '--prefill', b.url, '--decode', b.url, '--health-check-interval-secs', '0.3', '--gate-wait-secs', '0.2']);
    await router.admin.selectable({ regular: 1, prefill: 1, decode: 1 });
    expect(await modelIds(router)).toEqual(['alpha', 'beta/two', 'shared']);
    expect((await fetch(`${router.url}/v1/models/alpha`)).status).toBe(200);
    for (const path of ['/v1/models/beta/two', '/v1/models/beta%2Ftwo']) {
      const answer = await fetch(`${router.url}${path}`);
      expect([path, answer.status, await answer.json()]).toEqual([path, 200, expect.objectContaining({ id: 'beta/two' })]);
    }
    expect((await fetch(`${router.url}/v1/models/none`)).status).toBe(404);

    for (const model of ['alpha', 'beta/two', 'shared', undefined]) expect([model, (await ask(router, model)).status]).toEqual([model, 200]);
    expect(a.inference().map(({ body }) => (JSON.parse(body) as { model: string }).model)).toContain('alpha');
    expect(await ask(router, 'Alpha')).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(await ask(router, 'none')).toMatchObject({ status: 404, code: 'model_not_found' });

    const regular = (await router.admin.worker('regular', a.url))!;
    await router.admin.call('POST', `/api/v1/workers/${regular.id}/drain`, { force: true });
    expect(await ask(router, 'alpha')).toMatchObject({ status: 503, code: 'no_available_workers' });
    expect(await ask(router, 'none')).toMatchObject({ status: 404 });

    // A worker whose models are not known yet may have it: not 404.
    c.healthStatus = 503;
    await router.admin.call('POST', '/api/v1/workers', { role: 'regular', url: c.url });
    c.models = [];
    await pause(300);
    expect(await ask(router, 'none')).toMatchObject({ status: 503 });
  });

  it('models learnt and lost again follow the engine', async () => {
    const engine = await scripted({ models: ['one'] });
    const router = await started.router(['--worker-url', engine.url, '--health-check-interval-secs', '0.2']);
    await router.admin.selectable({ regular: 1 });
    expect(await ask(router, 'two')).toMatchObject({ status: 404 });
    engine.models = ['one', 'two'];
    await eventually('two is there', async () => (await modelIds(router)).includes('two'));
    expect(await ask(router, 'two')).toMatchObject({ status: 200 });
    engine.models = ['two'];
    await eventually('one is gone', async () => !(await modelIds(router)).includes('one'));
    expect(await ask(router, 'one')).toMatchObject({ status: 404 });
    // An empty list is no answer: what was known stays.
    engine.models = [];
    await pause(600);
    expect(await modelIds(router)).toEqual(['two']);
    expect((await router.admin.worker('regular', engine.url))!.selectable).toBe(true);
  });

  it('health: failures in a row make a worker unhealthy, a good one brings it back with its generation', async () => {
    const [a, b] = [await scripted(), await scripted()];
    const router = await started.router(['--worker-url', a.url, b.url, '--health-check-interval-secs', '0.2', '--health-failure-threshold', '2']);
    const before = await router.admin.selectable({ regular: 2 });
    a.healthStatus = 500;
    await eventually('unhealthy', async () => (await router.admin.worker('regular', a.url))!.health === 'unhealthy');
    expect(await router.admin.worker('regular', a.url)).toMatchObject({ selectable: false, unselectableBecause: ['unhealthy'] });
    const calls = a.inference().length;
    for (let n = 0; n < 6; n += 1) expect((await ask(router, 'm')).status).toBe(200);
    expect(a.inference()).toHaveLength(calls);
    a.healthStatus = 200;
    const after = await router.admin.selectable({ regular: 2 });
    expect(after.map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
  });
});
