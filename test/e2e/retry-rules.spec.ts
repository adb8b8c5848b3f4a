import { settled } from '../support/accounts.js';
import { eventually, pause } from '../support/eventually.js';
import { exchange, type Exchanged } from '../support/exchange.js';
import { Started } from '../support/fleet.js';
import { type RouterProcess } from '../support/router-process.js';
import { answerJson, type CallHandler, completion, event, isPrefillLeg, ScriptedEngine, startEvents } from '../support/scripted-engine.js';

const params = { do_remote_prefill: true, do_remote_decode: false, remote_engine_id: 'e', remote_block_ids: [1], remote_host: '127.0.0.1', remote_port: 1 };

/** Answers like a healthy engine; no connection is used twice. */
const fine: CallHandler = (call, res) => {
  res.shouldKeepAlive = false;
  answerJson(res, isPrefillLeg(call) ? completion('x', { kv_transfer_params: params }) : completion('fine'));
};

const status =
  (code: number, headers: Record<string, string> = {}): CallHandler =>
  (_call, res) => {
    res.shouldKeepAlive = false;
    answerJson(res, { error: { message: `status ${String(code)}` } }, code, headers);
  };
const reset: CallHandler = (_call, _res, socket) => void socket.resetAndDestroy();
const headersThenReset: CallHandler = (_call, res, socket) => {
  startEvents(res);
  setTimeout(() => socket.resetAndDestroy(), 30);
};
const headersThenSilence: CallHandler = (_call, res) => startEvents(res);
const firstByteThenReset: CallHandler = (_call, res, socket) => {
  startEvents(res);
  res.write(event('first'));
  setTimeout(() => socket.resetAndDestroy(), 30);
};
const errorEventFirst: CallHandler = (_call, res) => {
  res.shouldKeepAlive = false;
  startEvents(res);
  res.end('data: {"error": {"message": "no", "code": 500}}\n\ndata: [DONE]\n\n');
};
const errorEventAfterComments: CallHandler = (_call, res) => {
  res.shouldKeepAlive = false;
  startEvents(res);
  res.write(': ping\n\n:\r\n\r\n');
  setTimeout(() => res.end('event: error\ndata: {"error": {"message": "no", "code": 500}}\n\n'), 50);
};
const invalidJson: CallHandler = (_call, res) => {
  res.shouldKeepAlive = false;
  answerJson(res, '{"half');
};

/** Plays `script` call by call, whatever engine they come to, and is fine afterwards. */
function inTurn(script: readonly CallHandler[]): CallHandler {
  let at = 0;
  return (call, res, socket) => (script[at++] ?? fine)(call, res, socket);
}

const flags = ['--policy', 'round_robin', '--kv-connector', 'nixl', '--first-byte-timeout-secs', '0.3'];
const sizes = { prefill: 3, decode: 3, regular: 5 };

describe('retry rules', () => {
  const started = new Started();
  const engines: Record<keyof typeof sizes, ScriptedEngine[]> = { prefill: [], decode: [], regular: [] };
  const { prefill, decode, regular } = engines;
  /** Over all pairs, and over the regular workers with so many attempts. */
  let pairs: RouterProcess;
  const single = new Map<number, RouterProcess>();

  const urls = (list: readonly ScriptedEngine[]): string[] => list.map(({ url }) => url);
  const calls = (list: readonly ScriptedEngine[]): number => list.reduce((sum, engine) => sum + engine.inference().length, 0);
  const mostOnOne = (list: readonly ScriptedEngine[]): number => Math.max(...list.map((engine) => engine.inference().length));
  const all = (): ScriptedEngine[] => Object.values(engines).flat();
  const play = (list: readonly ScriptedEngine[], script: readonly CallHandler[]): void => {
    const handle = inTurn(script);
    for (const engine of list) engine.handle = handle;
  };

  beforeAll(async () => {
    for (const [role, count] of Object.entries(sizes)) {
      for (let index = 0; index < count; index += 1) engines[role as keyof typeof sizes].push(started.add(await ScriptedEngine.start(), (engine) => engine.stop()));
    }
    pairs = await started.router(['--prefill', ...urls(prefill), '--decode', ...urls(decode), ...flags]);
    for (const attempts of [1, 2, 3, 4]) single.set(attempts, await started.router(['--worker-url', ...urls(regular), '--retry-max-attempts', String(attempts), ...flags]));
  }, 60_000);
  afterAll(async () => await started.end());

  beforeEach(async () => {
    for (const engine of all()) {
      engine.handle = fine;
      engine.calls.length = 0;
    }
    await pairs.admin.selectable({ prefill: sizes.prefill, decode: sizes.decode });
    for (const router of single.values()) await router.admin.selectable({ regular: sizes.regular });
  });
  afterEach(async () => {
    for (const router of [pairs, ...single.values()]) await settled(router);
  });

  async function ask(router: RouterProcess, stream = false): Promise<Exchanged> {
    return await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x', ...(stream ? { stream } : {}) }, { headers: { 'x-request-id': 'asked' } });
  }

  const recoverable: readonly (readonly [string, CallHandler])[] = [
    ['500', status(500)],
    ['502', status(502)],
    ['a reset before headers', reset],
    ['headers, then a reset', headersThenReset],
    ['headers, then silence', headersThenSilence],
  ];

  const errorEvents: typeof recoverable = [
    ['an error as first event', errorEventFirst],
    ['an error as first event after comments', errorEventAfterComments],
  ];

  it.each(recoverable)('a single call that fails by %s is tried on another worker; headers alone end no retry', async (_name, strike) => {
    const router = single.get(3)!;
    play(regular, [strike, strike]);
    expect(await ask(router, true)).toMatchObject({ status: 200, complete: true });
    expect([calls(regular), mostOnOne(regular)]).toEqual([3, 1]);
    expect((await router.admin.receipt('asked')).attempts.map(({ chosen }: { chosen: string }) => chosen)).toHaveLength(3);
  });

  it.each([...recoverable, ['a body that is no JSON', invalidJson] as const])('a prefill call that fails by %s is tried on another worker, and decode waits', async (_name, strike) => {
    play(prefill, [strike, strike]);
    expect(await ask(pairs)).toMatchObject({ status: 200, complete: true });
    expect([calls(prefill), mostOnOne(prefill), calls(decode)]).toEqual([3, 1, 1]);
  });

  it.each([...recoverable, ...errorEvents])('a decode call that fails by %s begins again at prefill', async (_name, strike) => {
    play(decode, [strike, strike]);
    expect(await ask(pairs, true)).toMatchObject({ status: 200, complete: true, text: JSON.stringify(completion('fine')) });
    expect([calls(prefill), calls(decode), mostOnOne(decode)]).toEqual([3, 3, 1]);
    const ids = decode.flatMap((engine) => engine.inference().map(({ headers }) => headers['x-request-id']));
    expect(new Set(ids).size).toBe(3);
  });

  it('the third failed call ends the request with the last answer, wherever the failures were', async () => {
    play(prefill, [status(500), fine, status(502)]);
    play(decode, [reset]);
    const answer = await ask(pairs);
    expect(answer).toMatchObject({ status: 502, text: '{"error":{"message":"status 502"}}' });
    expect(answer.headers['x-switchyard-error']).toBeUndefined();
    expect([calls(prefill), calls(decode)]).toEqual([3, 1]);
  });

  it.each([1, 2, 3, 4])('--retry-max-attempts %d is as many calls in all', async (attempts) => {
    const router = single.get(attempts)!;
    for (const engine of regular) engine.handle = status(500);
    expect((await ask(router)).status).toBe(500);
    expect([calls(regular), mostOnOne(regular)]).toEqual([attempts, 1]);
  });

  it.each([400, 401, 404, 409, 422])('%d is the answer at once, on either leg', async (code) => {
    play(prefill, [status(code)]);
    expect((await ask(pairs)).status).toBe(code);
    expect([calls(prefill), calls(decode)]).toEqual([1, 0]);
    play(decode, [status(code)]);
    expect((await ask(pairs)).status).toBe(code);
    expect([calls(prefill), calls(decode)]).toEqual([2, 1]);
  });

  it.each([429, 503])('%d goes to at most one other, at once, and is then relayed with its Retry-After', async (code) => {
    const router = single.get(4)!;
    for (const engine of regular) engine.handle = status(code, { 'retry-after': '7' });
    const answer = await ask(router);
    expect(answer).toMatchObject({ status: code, headers: { 'retry-after': '7' } });
    expect(answer.elapsedMs).toBeLessThan(1_000);
    expect(calls(regular)).toBe(2);
    play(regular, [status(code)]);
    expect((await ask(router)).status).toBe(200);
    expect(calls(regular)).toBe(4);
    // It counts as an attempt: with two others failing, the third call is the last.
    play(regular, [status(code), status(500), status(500), status(500)]);
    expect((await ask(router)).status).toBe(500);
  });

  it('429 on a leg of a pair goes to at most one other pair', async () => {
    play(decode, [status(429), status(429), status(429)]);
    expect((await ask(pairs)).status).toBe(429);
    expect([calls(prefill), calls(decode)]).toEqual([2, 2]);
  });

  it('after the first byte nothing is tried again', async () => {
    const router = single.get(3)!;
    for (const engine of regular) engine.handle = firstByteThenReset;
    const answer = await ask(router, true);
    expect(answer).toMatchObject({ status: 200, complete: false });
    expect(answer.text).toMatch(/"upstream_stream_error"/);
    expect(calls(regular)).toBe(1);
  });

  const idsAt = (list: readonly ScriptedEngine[]): string[] => list.flatMap((engine) => engine.inference().map(({ headers }) => headers['x-request-id'] as string));

  /** Asks until the first decode engine chosen is the one that refuses; returns the outcomes of the decode calls. */
  async function askWithRefusal(answerOfOthers: CallHandler): Promise<{ answer: Exchanged; outcomes: string[]; prefills: number }> {
    return await eventually('a request whose first decode engine refuses', async () => {
      await pairs.admin.selectable({ prefill: sizes.prefill, decode: sizes.decode });
      // Moves the round on: a request that three engines fail would always begin with the same one.
      for (const engine of decode) engine.handle = fine;
      await ask(pairs);
      for (const engine of decode) engine.handle = answerOfOthers;
      const port = await decode[0]!.refuse();
      const before = calls(prefill);
      const answer = await ask(pairs);
      await decode[0]!.listenAgain(port);
      const { attempts } = await pairs.admin.receipt('asked');
      const outcomes: string[] = attempts.filter(({ phase }: { phase: string }) => phase === 'decode').map(({ outcome }: { outcome: string }) => outcome);
      return outcomes[0] === 'connect_refused' ? { answer, outcomes, prefills: calls(prefill) - before } : null;
    });
  }

  it('a decode engine that cannot be connected to: its NIXL hand-off goes to another one', async () => {
    const { answer, outcomes, prefills } = await askWithRefusal(fine);
    expect(answer.status).toBe(200);
    expect([outcomes, prefills]).toEqual([['connect_refused', 'ok'], 1]);
    // Every prefill was used exactly once.
    expect(idsAt(decode).sort()).toEqual(idsAt(prefill).sort());
  });

  it('refused by one decode engine, reset by the next: the hand-off may be there, so prefill runs again', async () => {
    const { answer, outcomes, prefills } = await askWithRefusal(reset);
    expect(answer.headers['x-switchyard-error']).toBe('upstream_unreachable');
    expect([outcomes, prefills]).toEqual([['connect_refused', 'reset', 'reset'], 2]);
    const used = idsAt(decode);
    expect(new Set(used).size).toBe(used.length);
  });
});

describe('idle connections that the engine has closed', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  /** Keeps connections; cuts those it has served before when told, as a request arrives. */
  class Cutting {
    cut = false;
    calls = 0;
    readonly #served = new WeakSet<object>();
    readonly #answer: CallHandler;

    constructor(answer: CallHandler) {
      this.#answer = answer;
    }

    readonly handle: CallHandler = (call, res, socket) => {
      this.calls += 1;
      if (this.cut && this.#served.has(socket)) return void socket.resetAndDestroy();
      this.#served.add(socket);
      return this.#answer(call, res, socket);
    };
  }

  const answering: CallHandler = (call, res) => answerJson(res, isPrefillLeg(call) ? completion('x', { kv_transfer_params: params }) : completion('fine'));

  async function engine(cutting: Cutting): Promise<ScriptedEngine> {
    return started.add(await ScriptedEngine.start({ handle: cutting.handle }), (it) => it.stop());
  }

  it('a single call is repeated once, on the same worker, and nobody is blamed', async () => {
    const cutting = new Cutting(answering);
    const it = await engine(cutting);
    const router = await started.router(['--worker-url', it.url, '--retry-max-attempts', '1']);
    await router.admin.selectable({ regular: 1 });
    expect((await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' })).status).toBe(200);
    cutting.cut = true;
    expect((await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' })).status).toBe(200);
    expect(cutting.calls).toBe(3);
    const [worker] = await settled(router);
    expect(worker).toMatchObject({ processed: 2, succeeded: 2, failed: 0, cancelled: 0, selectable: true, health: 'healthy' });

    it.handle = (_call, _res, socket) => void socket.resetAndDestroy();
    const twice = await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' });
    expect(twice.headers['x-switchyard-error']).toBe('upstream_unreachable');
    expect(it.inference()).toHaveLength(5);
    await settled(router);
  });

  it('a prefill call is repeated; a decode call with a hand-off goes back to prefill, outside the retry count', async () => {
    const [p, d] = [new Cutting(answering), new Cutting(answering)];
    const [prefill, decode] = [await engine(p), await engine(d)];
    const router = await started.router(['--prefill', prefill.url, '--decode', decode.url, '--kv-connector', 'nixl', '--retry-max-attempts', '1']);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const ask = async (): Promise<Exchanged> => await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' });
    expect((await ask()).status).toBe(200);
    p.cut = true;
    expect((await ask()).status).toBe(200);
    expect([p.calls, d.calls]).toEqual([3, 2]);
    p.cut = false;
    d.cut = true;
    expect((await ask()).status).toBe(200);
    // The one that was cut had an id of its own: its hand-off was not sent again.
    expect([p.calls, d.calls]).toEqual([5, 4]);
    const ids = decode.inference().map(({ headers }) => headers['x-request-id']);
    expect(new Set(ids).size).toBe(4);
    const workers = await settled(router);
    expect(workers.map(({ failed, selectable }) => ({ failed, selectable }))).toEqual([
      { failed: 0, selectable: true },
      { failed: 0, selectable: true },
    ]);
  });

  it('many idle decode connections, all of them dead, do not use up the request', async () => {
    const held: (() => void)[] = [];
    let holding = true;
    const d = new Cutting((call, res, socket) => {
      if (holding) held.push(() => void answering(call, res, socket));
      else return answering(call, res, socket);
    });
    const p = new Cutting(answering);
    const [prefill, decode] = [await engine(p), await engine(d)];
    const router = await started.router(['--prefill', prefill.url, '--decode', decode.url, '--kv-connector', 'nixl', '--retry-max-attempts', '1']);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    const ask = async (): Promise<Exchanged> => await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' });
    const many = Array.from({ length: 24 }, ask);
    await eventually('24 connections in use', () => held.length === 24);
    holding = false;
    for (const answer of held) answer();
    await Promise.all(many);
    await pause(50);
    d.cut = true;
    expect((await ask()).status).toBe(200);
    await settled(router);
  });

  it('idle connections are left within their time, before the engine closes them', async () => {
    const cutting = new Cutting(answering);
    const it = await engine(cutting);
    const router = await started.router(['--worker-url', it.url, '--upstream-keepalive-secs', '0.3', '--health-check-interval-secs', '60']);
    await router.admin.selectable({ regular: 1 });
    let used: object | null = null;
    it.handle = (call, res, socket) => {
      used = socket;
      return answering(call, res, socket);
    };
    await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' });
    expect(used).not.toBeNull();
    await eventually('the router closed it', () => ![...it.sockets].includes(used as never), 1_500);
    cutting.cut = true;
    expect((await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' })).status).toBe(200);
  });
});
