import { settled } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { exchange } from '../support/exchange.js';
import { Started } from '../support/fleet.js';
import { type RouterProcess } from '../support/router-process.js';
import { answerJson, completion, event, isPrefillLeg, ScriptedEngine, startEvents } from '../support/scripted-engine.js';

describe('eviction that aborts what runs', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  async function scripted(handle: ScriptedEngine['handle']): Promise<ScriptedEngine> {
    return started.add(await ScriptedEngine.start({ handle }), (engine) => engine.stop());
  }

  async function evict(router: RouterProcess, role: string, engine: ScriptedEngine): Promise<void> {
    const { id } = (await router.admin.worker(role, engine.url))!;
    expect((await router.admin.call('POST', `/api/v1/workers/${id}/evict`, { reason: 'test', abortInflight: true, force: true })).status).toBe(200);
  }

  const scenes = ['in prefill', 'before the first byte', 'after the head'] as const;

  it.each(scenes)('%s: the request is placed again, and blames nobody', async (scene) => {
    const slow: ScriptedEngine['handle'] = (_call, res) => {
      if (scene === 'after the head') startEvents(res);
    };
    const fine: ScriptedEngine['handle'] = (_call, res) => answerJson(res, completion('x'));
    const role = scene === 'in prefill' ? 'prefill' : 'decode';
    const [first, second, other] = [await scripted(slow), await scripted(fine), await scripted(fine)];
    const flags = role === 'prefill' ? ['--prefill', first.url, '--decode', other.url] : ['--prefill', other.url, '--decode', first.url];
    const router = await started.router([...flags, '--kv-connector', 'nixl']);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const answer = exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('the call', () => first.inference().length === 1);
    await router.admin.call('POST', '/api/v1/workers', { role, url: second.url });
    await router.admin.selectable({ [role]: 2 });
    await evict(router, role, first);
    expect(await answer).toMatchObject({ status: 200, complete: true });
    await eventually('the engine connection closed', () => first.inference()[0]!.abortedAfterMs !== null);
    const workers = await settled(router);
    expect(workers.every(({ failed }) => failed === 0)).toBe(true);
  });

  it.each(scenes)('%s, with nobody else: 503 worker_evicted', async (scene) => {
    const slow: ScriptedEngine['handle'] = (_call, res) => {
      if (scene === 'after the head') startEvents(res);
    };
    const role = scene === 'in prefill' ? 'prefill' : 'decode';
    const [first, other] = [await scripted(slow), await scripted((_call, res) => answerJson(res, completion('x')))];
    const flags = role === 'prefill' ? ['--prefill', first.url, '--decode', other.url] : ['--prefill', other.url, '--decode', first.url];
    const router = await started.router([...flags, '--kv-connector', 'nixl']);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const answer = exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('the call', () => first.inference().length === 1);
    await evict(router, role, first);
    const refused = await answer;
    expect(refused).toMatchObject({ status: 503, headers: { 'x-switchyard-error': 'worker_evicted' } });
    expect(JSON.parse(refused.text).error).toMatchObject({ type: 'server_error', code: 'worker_evicted' });
    await settled(router);
  });

  it('mid-stream: an error event and an abrupt end; without abort the stream goes on', async () => {
    const open: (() => void)[] = [];
    const engine = await scripted((call, res) => {
      if (isPrefillLeg(call)) {
        answerJson(res, completion('x'));
        return;
      }
      startEvents(res);
      res.write(event('first'));
      open.push(() => res.end('data: [DONE]\n\n'));
    });
    const [kept, aborted] = await Promise.all([started.router(['--worker-url', engine.url]), started.router(['--worker-url', engine.url])]);
    await Promise.all([kept.admin.selectable({ regular: 1 }), aborted.admin.selectable({ regular: 1 })]);
    const going = exchange(kept.api, '/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('the first stream', () => open.length === 1);
    const cut = exchange(aborted.api, '/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('the second stream', () => open.length === 2);
    await evict(aborted, 'regular', engine);
    const answer = await cut;
    expect(answer).toMatchObject({ status: 200, complete: false });
    expect(answer.text.startsWith(event('first'))).toBe(true);
    expect(JSON.parse(answer.text.slice(event('first').length).replace('data: ', '')).error.code).toBe('worker_evicted');
    const { id } = (await kept.admin.worker('regular', engine.url))!;
    await kept.admin.call('POST', `/api/v1/workers/${id}/evict`, { reason: 'test', force: true });
    expect((await kept.admin.get('/api/v1/departed')).items).toMatchObject([{ id, load: 1 }]);
    open[0]!();
    expect(await going).toMatchObject({ status: 200, complete: true, text: `${event('first')}data: [DONE]\n\n` });
    await settled(kept);
    await settled(aborted);
  });
});
