import { type EngineProcess } from '../support/engine-process.js';
import { eventually, pause } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { answerJson, completion, ScriptedEngine } from '../support/scripted-engine.js';
import { Traffic } from '../support/traffic.js';

describe('an engine process that dies', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  it.each([
    ['regular', []],
    ['decode', ['--connector', 'nixl']],
    ['prefill', ['--connector', 'nixl']],
  ] as const)('kill -9 of one of two %s engines under traffic: no client sees it before the first byte; it is back with a new generation', async (role, flags) => {
    const other = role === 'prefill' ? 'decode' : 'prefill';
    const start = async (as: string, port = 0): Promise<EngineProcess> =>
      await started.engine(['--role', as, '--port', String(port), '--prefill-us-per-token', '300', '--decode-ms-per-token', '1', ...flags]);
    const [victim, survivor] = [await start(role), await start(role)];
    const urls = role === 'regular' ? ['--worker-url', victim.url, survivor.url] : [`--${role}`, victim.url, survivor.url, `--${other}`, (await start(other)).url];
    const router = await started.router([...urls, '--health-check-interval-secs', '0.5']);
    await router.admin.selectable(role === 'regular' ? { regular: 2 } : { [role]: 2, [other]: 1 });
    const before = (await router.admin.worker(role, victim.url))!;
    // One token: a stream that has begun cannot be saved, so none is longer than its first byte.
    const traffic = new Traffic(router, { model: 'sim-model', loops: 6, maxTokens: 1 });
    await eventually('traffic on the victim', async () => (await router.admin.worker(role, victim.url))!.processed > 5);

    victim.child.signal('SIGKILL');
    await victim.child.end();
    await eventually('it is out', async () => !(await router.admin.worker(role, victim.url))!.selectable);
    const out = (await router.admin.worker(role, victim.url))!;
    expect(['unhealthy', 'unknown']).toContain(out.health);
    expect(out.unselectableBecause.some((reason) => reason === 'restart_check' || reason === 'unhealthy')).toBe(true);
    expect(out.generation).toBe(before.generation);
    await pause(2_100);

    await start(role, victim.port);
    await eventually('it is back', async () => {
      const worker = await router.admin.worker(role, victim.url);
      return worker?.selectable === true && worker.generation > before.generation;
    });
    await eventually('it works', async () => (await router.admin.worker(role, victim.url))!.succeeded > 3);
    await traffic.stop();
    expect(traffic.failures.slice(0, 5)).toEqual([]);
    const after = await router.admin.quiet();
    expect(after.every(({ processed, succeeded, failed, cancelled, load }) => processed === succeeded + failed + cancelled + load)).toBe(true);
    expect((await router.admin.get('/api/v1/events?type=replaced')).items).toMatchObject([{ type: 'replaced', role, endpoint: victim.url }]);
  });

  it('kill -9 of a prefill engine between the legs: the only decode engine is asked again, with what another prefill engine hands over', async () => {
    const prefills = [await started.engine(['--role', 'prefill', '--connector', 'nixl']), await started.engine(['--role', 'prefill', '--connector', 'nixl'])];
    const victims: EngineProcess[] = [];
    const decode = started.add(
      await ScriptedEngine.start({
        models: ['sim-model'],
        handle: async (_call, res) => {
          if (victims.length > 0) {
            answerJson(res, completion('fine'));
            return;
          }
          // Whoever prefilled dies before its KV cache is fetched.
          for (const engine of prefills) if ((await engine.requests()).length > 0) victims.push(engine);
          for (const { child } of victims) {
            child.signal('SIGKILL');
            await child.end();
          }
          answerJson(res, { error: { message: 'cannot fetch the KV cache', code: 500 } }, 500);
        },
      }),
      (engine) => engine.stop(),
    );
    const router = await started.router(['--prefill', ...prefills.map(({ url }) => url), '--decode', decode.url]);
    await router.admin.selectable({ prefill: 2, decode: 1 });

    const response = await router.post('/v1/completions', { model: 'sim-model', prompt: 'x', max_tokens: 2 }, { headers: { 'x-request-id': 'crash-1' } });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('fine')]);
    expect(victims).toHaveLength(1);
    expect(decode.inference()).toHaveLength(2);
    const { attempts } = await router.admin.receipt('crash-1');
    const dead = (await router.admin.worker('prefill', victims[0]!.url))!.id;
    expect(attempts.map(({ phase, outcome }: any) => [phase, outcome])).toEqual([['prefill', 'ok'], ['decode', 'status 500'], ['prefill', 'ok'], ['decode', 'ok']]);
    expect(attempts[2].candidates.find(({ id }: any) => id === dead)).toMatchObject({ excluded: 'failed_pair' });
  });

  it('a crash that is over before anybody asks again keeps its generation only without proof', async () => {
    const engine = await started.engine(['--role', 'regular']);
    const router = await started.router(['--worker-url', engine.url, '--health-check-interval-secs', '0.3']);
    await router.admin.selectable({ regular: 1 });
    const before = (await router.admin.worker('regular', engine.url))!;
    await engine.fault({ kind: 'reset', times: 1 });
    const failed = await router.post('/v1/completions', { model: 'sim-model', prompt: 'x', max_tokens: 2 });
    expect([200, 502, 503]).toContain(failed.status);
    await router.admin.selectable({ regular: 1 });
    expect((await router.admin.worker('regular', engine.url))!.id).toBe(before.id);
  });
});
