import { randomUUID } from 'node:crypto';

import { eventually } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { type RouterProcess } from '../support/router-process.js';
import { answerJson, completion, isPrefillLeg, ScriptedEngine } from '../support/scripted-engine.js';

type Answer = () => void;

/** Engines whose answers to one kind of call are given when the test says so. */
class HeldCalls {
  readonly #held: { readonly engine: string; readonly prompt: string; readonly answer: Answer }[] = [];

  hold(engine: string, prompt: string, answer: Answer): void {
    this.#held.push({ engine, prompt, answer });
  }

  get count(): number {
    return this.#held.length;
  }

  at(engine: string): number {
    return this.#held.filter((call) => call.engine === engine).length;
  }

  release(): void {
    for (const { answer } of this.#held.splice(0)) answer();
  }
}

function prefixOf(name: string): string {
  return `${name} `.repeat(Math.ceil(2048 / (name.length + 1)));
}

function share(counts: readonly number[]): { readonly least: number; readonly most: number } {
  return { least: Math.min(...counts), most: Math.max(...counts) };
}

describe('placement', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  async function engines(count: number, handle?: ScriptedEngine['handle']): Promise<ScriptedEngine[]> {
    const options = handle === undefined ? {} : { handle };
    return await Promise.all(Array.from({ length: count }, async () => started.add(await ScriptedEngine.start(options), (engine) => engine.stop())));
  }

  async function complete(router: RouterProcess, prompt: string): Promise<{ id: string; status: number }> {
    const id = `t-${randomUUID()}`;
    const response = await router.post('/v1/completions', { model: 'm', prompt }, { headers: { 'x-request-id': id } });
    await response.text();
    return { id, status: response.status };
  }

  async function prefillAttempt(router: RouterProcess, id: string): Promise<any> {
    const receipt = await router.admin.receipt(id);
    return receipt.attempts.find(({ phase }: { phase: string }) => phase === 'prefill');
  }

  function pairFlags(prefill: readonly ScriptedEngine[], decode: readonly ScriptedEngine[]): string[] {
    return ['--prefill', ...prefill.map(({ url }) => url), '--decode', ...decode.map(({ url }) => url)];
  }

  it('3, 10: a returning prefix goes to its owner, an overloaded owner yields, afterwards affinity returns', async () => {
    const held = new HeldCalls();
    let holding = false;
    const prefill = await engines(2);
    for (const engine of prefill) {
      engine.handle = (call, res) => {
        const answer = (): void => answerJson(res, completion('x'));
        if (holding) held.hold(engine.address, '', answer);
        else answer();
        expect(isPrefillLeg(call)).toBe(true);
      };
    }
    const decode = await engines(1);
    const router = await started.router([...pairFlags(prefill, decode), '--balance-abs-threshold', '3', '--balance-rel-threshold', '1.5']);
    await router.admin.selectable({ prefill: 2, decode: 1 });

    const first = await prefillAttempt(router, (await complete(router, prefixOf('hot'))).id);
    expect(first.reason).toBe('no_match');
    const owner = first.chosen;
    for (let round = 0; round < 5; round += 1) {
      const again = await prefillAttempt(router, (await complete(router, `${prefixOf('hot')} and then ${String(round)}`)).id);
      expect(again).toMatchObject({ chosen: owner, reason: 'affinity' });
      expect(again.candidates.find(({ id }: { id: string }) => id === owner).matchBytes).toBeGreaterThan(1900);
    }

    holding = true;
    const burst = Array.from({ length: 10 }, (_, index) => complete(router, `${prefixOf('hot')} burst ${String(index)}`));
    await eventually('ten prefills', () => held.count === 10);
    const pressures = (await router.admin.workers()).filter(({ role }) => role === 'prefill').map(({ pressure }) => pressure);
    expect(Math.max(...pressures) - Math.min(...pressures)).toBeLessThanOrEqual(4);
    expect(Math.min(...pressures)).toBeGreaterThan(0);
    holding = false;
    held.release();
    const reasons = await Promise.all(burst.map(async (done) => (await prefillAttempt(router, (await done).id)).reason));
    expect(reasons).toContain('imbalance');
    expect(reasons).toContain('affinity');
    await router.admin.quiet();
    const later = await prefillAttempt(router, (await complete(router, `${prefixOf('hot')} later`)).id);
    expect(later.reason).toBe('affinity');
  });

  it('10: 50 simultaneous requests with one new prefix stay together within the balance rule; a failed one leaves no owner', async () => {
    const held = new HeldCalls();
    const prefill = await engines(3);
    for (const engine of prefill) engine.handle = (_call, res) => held.hold(engine.address, '', () => answerJson(res, completion('x')));
    const decode = await engines(1);
    const router = await started.router([...pairFlags(prefill, decode), '--balance-abs-threshold', '64', '--retry-max-attempts', '1']);
    await router.admin.selectable({ prefill: 3, decode: 1 });
    const burst = Array.from({ length: 50 }, () => complete(router, prefixOf('burst')));
    await eventually('50 prefills', () => held.count === 50);
    expect(prefill.map(({ address }) => held.at(address)).sort((a, b) => a - b)).toEqual([0, 0, 50]);
    held.release();
    expect((await Promise.all(burst)).every(({ status }) => status === 200)).toBe(true);
    await router.admin.quiet();

    const covered = async (): Promise<number> => {
      const items = (await router.admin.get('/api/v1/cache')).items as { role: string; coveredBytes: number }[];
      return items.filter(({ role }) => role === 'prefill').reduce((sum, { coveredBytes }) => sum + coveredBytes, 0);
    };
    const before = await covered();
    for (const engine of prefill) engine.handle = (_call, res) => answerJson(res, { error: { message: 'no' } }, 500);
    expect((await complete(router, prefixOf('never served'))).status).toBe(500);
    expect(await covered()).toBe(before);
    for (const engine of prefill) engine.handle = (_call, res) => answerJson(res, completion('x'));
    const next = await prefillAttempt(router, (await complete(router, prefixOf('never served'))).id);
    expect(next.reason).toBe('no_match');
  });

  it('11: 600 cold requests over 6 equal workers spread within ±10 %, one after another and at once', async () => {
    const regular = await engines(6);
    const router = await started.router(['--worker-url', ...regular.map(({ url }) => url)]);
    await router.admin.selectable({ regular: 6 });
    const processed = async (): Promise<Map<string, number>> => new Map((await router.admin.workers()).map(({ id, processed: count }) => [id, count]));
    const spread = async (send: () => Promise<void>): Promise<number[]> => {
      const before = await processed();
      await send();
      return [...(await processed())].map(([id, count]) => count - (before.get(id) ?? 0));
    };
    const sequential = await spread(async () => {
      for (let index = 0; index < 600; index += 1) expect((await complete(router, `cold ${randomUUID()}`)).status).toBe(200);
    });
    expect(share(sequential).least).toBeGreaterThanOrEqual(90);
    expect(share(sequential).most).toBeLessThanOrEqual(110);
    const concurrent = await spread(async () => {
      await Promise.all(Array.from({ length: 600 }, () => complete(router, `cold ${randomUUID()}`)));
    });
    expect(share(concurrent).least).toBeGreaterThanOrEqual(90);
    expect(share(concurrent).most).toBeLessThanOrEqual(110);

    const [victim] = await router.admin.workers();
    await router.admin.call('POST', `/api/v1/workers/${victim!.id}/evict`, { reason: 'replace it', quarantineSecs: 0 });
    await router.admin.selectable({ regular: 6 });
    const afterwards = await spread(async () => {
      await Promise.all(Array.from({ length: 600 }, () => complete(router, `cold ${randomUUID()}`)));
    });
    expect(share(afterwards).least).toBeGreaterThanOrEqual(90);
    expect(share(afterwards).most).toBeLessThanOrEqual(110);
  });

  it('11: decode workers with loads 5 and 4 share 40 simultaneous early-bound prefills evenly', async () => {
    const held = new HeldCalls();
    const prefill = await engines(2);
    for (const engine of prefill) engine.handle = (_call, res) => held.hold('prefill', '', () => answerJson(res, completion('x')));
    const decode = await engines(2);
    const streams = new HeldCalls();
    for (const engine of decode) engine.handle = (_call, res) => streams.hold(engine.address, '', () => answerJson(res, completion('x')));
    const router = await started.router([...pairFlags(prefill, decode), '--decode-policy', 'least_load']);
    await router.admin.selectable({ prefill: 2, decode: 2 });

    const nine = Array.from({ length: 9 }, (_, index) => complete(router, `long ${String(index)}`));
    await eventually('nine prefills', () => held.count === 9);
    held.release();
    await eventually('nine decodes', () => streams.count === 9);
    const decodeWorkers = async (): Promise<{ load: number; bound: number }[]> =>
      (await router.admin.workers()).filter(({ role }) => role === 'decode').map(({ load, holds }) => ({ load, bound: holds.bound }));
    expect((await decodeWorkers()).map(({ load }) => load).sort()).toEqual([4, 5]);

    const forty = Array.from({ length: 40 }, (_, index) => complete(router, `short ${String(index)}`));
    await eventually('forty prefills', () => held.count === 40);
    const bound = (await decodeWorkers()).map((worker) => worker.bound);
    expect(bound.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect(share(bound).most - share(bound).least).toBeLessThanOrEqual(2);
    held.release();
    await eventually('all decodes', () => streams.count === 49);
    streams.release();
    expect((await Promise.all([...nine, ...forty])).every(({ status }) => status === 200)).toBe(true);
    await router.admin.quiet();
  });

  it('9: an empty or unselectable pool is a 503 that names the counts and leaves nothing behind', async () => {
    const [prefill, decode] = await engines(2);
    const router = await started.router(['--prefill', prefill!.url, '--gate-wait-secs', '0.1']);
    await router.admin.selectable({ prefill: 1 });
    const traces = async (): Promise<unknown> => ({
      cache: (await router.admin.get('/api/v1/cache')).items.map(({ coveredBytes, hits, misses }: Record<string, number>) => ({ coveredBytes, hits, misses })),
      processed: (await router.admin.workers()).map(({ id, processed, pressure, turn }) => ({ id, processed, pressure, turn })),
    });
    const before = await traces();
    const id = `t-${randomUUID()}`;
    const refused = await router.post('/v1/completions', { model: 'm', prompt: prefixOf('refused') }, { headers: { 'x-request-id': id } });
    const { error } = (await refused.json()) as { error: Record<string, string> };
    expect(refused.status).toBe(503);
    expect(refused.headers.get('x-switchyard-error')).toBe('no_available_workers');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(error).toMatchObject({ type: 'server_error', code: 'no_available_workers' });
    expect(error.message).toContain('no available workers: prefill 1/1, decode 0/0, regular 0/0 selectable');
    expect(await traces()).toEqual(before);
    expect((await router.admin.receipt(id)).attempts).toEqual([]);
    expect(prefill!.inference()).toHaveLength(0);

    await router.admin.call('POST', '/api/v1/workers', { role: 'decode', url: decode!.url });
    const workers = await router.admin.selectable({ prefill: 1, decode: 1 });
    expect((await complete(router, 'now it works')).status).toBe(200);
    const decodeId = workers.find(({ role }) => role === 'decode')!.id;
    expect((await router.admin.call('POST', `/api/v1/workers/${decodeId}/drain`, { force: true })).status).toBe(200);
    const drained = await router.post('/v1/completions', { model: 'm', prompt: 'x' });
    expect(drained.status).toBe(503);
    expect(((await drained.json()) as { error: { message: string } }).error.message).toContain('decode 0/1');
  });
});
