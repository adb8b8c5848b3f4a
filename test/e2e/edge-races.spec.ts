import { settled } from '../support/accounts.js';
import { type EngineProcess } from '../support/engine-process.js';
import { eventually, pause } from '../support/eventually.js';
import { exchange, type Exchanged } from '../support/exchange.js';
import { Started } from '../support/fleet.js';
import { freeze } from '../support/frozen-engine.js';
import { type Ping, Pinger } from '../support/pinger.js';
import { type RouterProcess } from '../support/router-process.js';
import { answerJson, completion, ScriptedEngine } from '../support/scripted-engine.js';

const ttlSecs = 1;

/** One engine that a test announces: what it says, and how that changes. */
class Announced {
  constructor(
    readonly engine: EngineProcess,
    readonly pinger: Pinger,
    public ping: Ping,
  ) {}

  async say(changed: Partial<Ping>): Promise<void> {
    this.ping = { ...this.ping, ...changed };
    await this.pinger.keepPinging(this.ping, 200);
  }
}

/** Ways in which the worker at an endpoint stops being the one that was chosen. `returns`: a successor is there at once. */
const changes = ['a new zmq address', 'a new instance', 'eviction', 'expiry'] as const;
type Change = (typeof changes)[number];

describe('7: the registry changes while a request is on its way', () => {
  const started = new Started();
  const pingers: Pinger[] = [];
  let nextAddress = 25_000;
  afterEach(async () => {
    for (const pinger of pingers.splice(0)) pinger.close();
    await started.end();
  });

  async function announce(router: RouterProcess, role: 'prefill' | 'decode', flags: readonly string[] = []): Promise<Announced> {
    const engine = await started.engine(['--role', role, '--connector', 'nixl', ...flags]);
    const pinger = new Pinger(router.discovery);
    pingers.push(pinger);
    const announced = new Announced(engine, pinger, {
      type: role === 'prefill' ? 'P' : 'D',
      http_address: engine.address,
      zmq_address: `127.0.0.1:${String(nextAddress++)}`,
      instance: 'one',
    });
    await announced.say({});
    return announced;
  }

  async function setUp(flags: readonly string[] = []): Promise<{ router: RouterProcess; p: Announced; d: Announced }> {
    const router = await started.router(['--registration-ttl-secs', String(ttlSecs), '--kv-connector', 'nixl', '--gate-wait-secs', '10', ...flags]);
    const [p, d] = [await announce(router, 'prefill'), await announce(router, 'decode')];
    await router.admin.selectable({ prefill: 1, decode: 1 });
    return { router, p, d };
  }

  async function generation(router: RouterProcess, { engine, ping }: Announced): Promise<number | null> {
    return (await router.admin.worker(ping.type === 'P' ? 'prefill' : 'decode', engine.address))?.generation ?? null;
  }

  /** Makes the worker depart, and waits until it has. */
  async function apply(change: Change, router: RouterProcess, announced: Announced): Promise<void> {
    const before = await generation(router, announced);
    expect(before).not.toBeNull();
    if (change === 'a new zmq address') await announced.say({ zmq_address: `127.0.0.1:${String(nextAddress++)}` });
    else if (change === 'a new instance') await announced.say({ instance: 'two' });
    else if (change === 'expiry') announced.pinger.silence();
    else {
      const { id } = (await router.admin.worker(announced.ping.type === 'P' ? 'prefill' : 'decode', announced.engine.address))!;
      const answer = await router.admin.call('POST', `/api/v1/workers/${id}/evict`, { reason: 'test', force: true });
      expect(answer.status).toBe(200);
    }
    await eventually(change, async () => (await generation(router, announced)) !== before);
  }

  function ask(router: RouterProcess, prompt: string): Promise<Exchanged> {
    return exchange(router.api, '/v1/completions', { model: 'sim-model', prompt, max_tokens: 8, stream: true }, { headers: { 'x-request-id': 'raced' } });
  }

  async function posts({ engine }: Announced): Promise<any[]> {
    return (await engine.requests()).filter(({ method }) => method === 'POST');
  }

  async function loads(router: RouterProcess): Promise<Record<string, number>> {
    const workers = await router.admin.workers();
    const of = (role: string, value: (worker: (typeof workers)[number]) => number): number => workers.filter((worker) => worker.role === role).reduce((sum, worker) => sum + value(worker), 0);
    return { prefill: of('prefill', ({ load }) => load), decode: of('decode', ({ load }) => load), kvOut: of('prefill', ({ holds }) => holds.kvOut) };
  }

  async function noViolations(...engines: readonly Announced[]): Promise<void> {
    for (const { engine } of engines) expect((await engine.state()).violations).toEqual([]);
  }

  describe.each(changes)('by %s', (change) => {
    it('of the prefill worker, between reserve and the prefill call: the call is never written', async () => {
      const { router, p, d } = await setUp();
      const thaw = started.add(await freeze(p.engine), (end) => end());
      const answer = ask(router, 'x');
      await eventually('reserved', async () => (await loads(router)).prefill === 1);
      const departed = (await router.admin.workers()).find(({ role }) => role === 'prefill')!.id;
      await apply(change, router, p);
      const spare = await announce(router, 'prefill');
      thaw();
      expect(await answer).toMatchObject({ status: 200, complete: true });
      const { attempts } = await router.admin.receipt('raced');
      const prefills = attempts.filter(({ phase }: { phase: string }) => phase === 'prefill');
      expect(prefills.length).toBeGreaterThanOrEqual(2);
      expect(prefills[0]).toMatchObject({ chosen: departed, outcome: 'cancelled' });
      expect(prefills.at(-1)).toMatchObject({ chosen: expect.not.stringMatching(`^${departed}$`), outcome: 'ok' });
      expect((await posts(p)).length + (await posts(spare)).length).toBe(1);
      if (change === 'eviction' || change === 'expiry') expect(await posts(p)).toEqual([]);
      expect(await posts(d)).toHaveLength(1);
      await noViolations(p, d, spare);
      await settled(router);
      // Nobody is blamed for a call that was called off.
      expect((await router.admin.workers()).map(({ failed, health }) => [failed, health])).toEqual((await router.admin.workers()).map(() => [0, 'healthy']));
    });

    it('of the prefill worker while it runs: its hand-off is not used', async () => {
      const { router, p, d } = await setUp();
      await p.engine.fault({ kind: 'slow_first_byte', ms: change === 'expiry' ? 2_500 : 1_200, times: 1, phase: 'prefill' });
      const answer = ask(router, 'x');
      await eventually('prefill runs', async () => (await posts(p)).length === 1);
      await apply(change, router, p);
      const spare = await announce(router, 'prefill');
      await eventually('the departed worker is still at work', async () => (await router.admin.get('/api/v1/departed')).items.length === 1);
      expect(await answer).toMatchObject({ status: 200, complete: true });
      expect((await posts(p)).length + (await posts(spare)).length).toBe(2);
      expect(await posts(d)).toHaveLength(1);
      await noViolations(p, d, spare);
      await settled(router);
    });

    it('of the prefill worker, between begin-decode and the decode call: the hand-off is not sent', async () => {
      const { router, p, d } = await setUp();
      const thaw = started.add(await freeze(d.engine), (end) => end());
      const answer = ask(router, 'x');
      await eventually('decode begun', async () => (await loads(router)).decode === 1);
      expect(await loads(router)).toEqual({ prefill: 0, decode: 1, kvOut: 1 });
      await apply(change, router, p);
      const spare = await announce(router, 'prefill');
      await router.admin.selectable(change === 'eviction' || change === 'expiry' ? { prefill: 1 } : { prefill: 2 });
      thaw();
      expect(await answer).toMatchObject({ status: 200, complete: true });
      expect((await posts(p)).length + (await posts(spare)).length).toBe(2);
      expect(await posts(d)).toHaveLength(1);
      await noViolations(p, d, spare);
      await settled(router);
    });

    it('of the decode worker, between begin-decode and its call: nothing is sent to the departed one', async () => {
      const { router, p, d } = await setUp();
      const thaw = started.add(await freeze(d.engine), (end) => end());
      const answer = ask(router, 'x');
      await eventually('decode begun', async () => (await loads(router)).decode === 1);
      await apply(change, router, d);
      const spare = await announce(router, 'decode');
      thaw();
      expect(await answer).toMatchObject({ status: 200, complete: true });
      expect((await posts(d)).length + (await posts(spare)).length).toBe(1);
      if (change === 'eviction' || change === 'expiry') expect(await posts(d)).toEqual([]);
      await noViolations(p, d, spare);
      await settled(router);
    });
  });

  it.each(['a new instance', 'expiry'] as const)('by %s of the only decode worker during prefill: its successor gets the hand-off', async (change) => {
    const { router, p, d } = await setUp();
    await p.engine.fault({ kind: 'slow_first_byte', ms: 2_000, times: 1, phase: 'prefill' });
    const answer = ask(router, 'x');
    await eventually('prefill runs', async () => (await posts(p)).length === 1);
    await d.engine.fault({ kind: 'health', status: 503 });
    await apply(change, router, d);
    if (change === 'expiry') await d.say({});
    await eventually('prefill done', async () => (await loads(router)).kvOut === 1);
    await pause(200);
    // Until now the successor is gated.
    await d.engine.fault({ kind: 'health', status: 200 });
    expect(await answer).toMatchObject({ status: 200, complete: true });
    expect([(await posts(p)).length, (await posts(d)).length]).toEqual([1, 1]);
    await noViolations(p, d);
    await settled(router);
  });

  it('a hand-off that grows too old before it is sent is not sent: prefill runs again', async () => {
    const { router, p, d } = await setUp(['--handoff-max-age-secs', '0.3']);
    const thaw = started.add(await freeze(d.engine), (end) => end());
    const answer = ask(router, 'x');
    await eventually('decode begun', async () => (await loads(router)).decode === 1);
    await pause(500);
    thaw();
    expect(await answer).toMatchObject({ status: 200, complete: true });
    expect([(await posts(p)).length, (await posts(d)).length]).toEqual([2, 1]);
    await noViolations(p, d);
    await settled(router);
  });

  it('P2P NCCL: a decode worker that departs during prefill gets nothing; the pair is placed again with the new address', async () => {
    const prefills: (() => void)[] = [];
    let hold = true;
    const handle: ScriptedEngine['handle'] = (call, res) => {
      const prefill = call.body.includes('"max_tokens":1');
      const answer = (): void => answerJson(res, completion('x'));
      if (prefill && hold) prefills.push(answer);
      else answer();
    };
    const engine = async (): Promise<ScriptedEngine> => started.add(await ScriptedEngine.start({ handle }), (it) => it.stop());
    const [p, d] = [await engine(), await engine()];
    const router = await started.router(['--registration-ttl-secs', '5', '--kv-connector', 'p2p-nccl', '--gate-wait-secs', '10']);
    const pinger = new Pinger(router.discovery);
    pingers.push(pinger);
    await pinger.ping({ type: 'P', http_address: p.address, zmq_address: '127.0.0.1:26001' });
    await pinger.ping({ type: 'D', http_address: d.address, zmq_address: '127.0.0.1:26002' });
    const before = await router.admin.selectable({ prefill: 1, decode: 1 });
    const answer = exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' });
    await eventually('prefill runs', () => prefills.length === 1);
    expect((await router.admin.worker('decode', d.address))!.holds.bound).toBe(1);
    await pinger.ping({ type: 'D', http_address: d.address, zmq_address: '127.0.0.1:26003' });
    await eventually('the new one', async () => (await router.admin.worker('decode', d.address))!.id !== before.find(({ role }) => role === 'decode')!.id);
    // The departed one keeps its hold until the request has found out.
    expect((await router.admin.get('/api/v1/departed')).items).toMatchObject([{ holds: { bound: 1 } }]);
    hold = false;
    prefills[0]!();
    expect((await answer).status).toBe(200);
    const addresses = (it: ScriptedEngine): string[] => it.inference().map(({ headers }) => /___decode_addr_(\S+)_[0-9a-f]+$/.exec(headers['x-request-id'] as string)![1]!);
    expect(addresses(p)).toEqual(['127.0.0.1:26002', '127.0.0.1:26003']);
    expect(addresses(d)).toEqual(['127.0.0.1:26003']);
    await settled(router);
  });
});
