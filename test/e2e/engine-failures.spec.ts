import { type AddressInfo, createServer } from 'node:net';

import { settled } from '../support/accounts.js';
import { pause } from '../support/eventually.js';
import { exchange, type Exchanged } from '../support/exchange.js';
import { Started } from '../support/fleet.js';
import { RawClient } from '../support/raw-client.js';
import { type RouterProcess } from '../support/router-process.js';
import { answerJson, type CallHandler, completion, event, isPrefillLeg, ScriptedEngine, startEvents } from '../support/scripted-engine.js';

/** What the client gets. `body`: the exact bytes; `opens`: what they begin with; `code`: the router's own error. */
interface Expected {
  readonly status: number;
  readonly body?: string;
  readonly opens?: string;
  readonly code?: string;
  readonly param?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly complete?: boolean;
}

interface Row {
  readonly name: string;
  readonly strike: CallHandler | 'refuse';
  readonly expected: Expected;
}

const engineError = '{"error":{"message":"the engine says no","type":"X","param":null,"code":1}}';
const firstEvent = event('first');
const half = '{"id":"cmpl-1","choices":[{"index":0,"te';
const errorEvent = 'data: {"error": {"message": "EngineCore encountered an issue", "code": 500}}\n\ndata: [DONE]\n\n';

const unreachable: Expected = { status: 502, code: 'upstream_unreachable' };
const invalid: Expected = { status: 502, code: 'upstream_invalid_response' };
const noFirstByte: Expected = { status: 504, code: 'upstream_timeout', param: 'first_byte' };
/** The first event, the router's error in the stream's own shape, and an end that cannot be taken for a proper one. */
const broken = (param: string | null): Expected => ({ status: 200, opens: firstEvent, code: 'upstream_stream_error', param, complete: false });

const status =
  (code: number, headers: Record<string, string> = {}): CallHandler =>
  (_call, res) =>
    answerJson(res, engineError, code, headers);

const raw =
  (text: string, end: 'fin' | 'reset' | 'never' = 'fin'): CallHandler =>
  (_call, _res, socket) => {
    socket.write(text);
    // What was written has to arrive: a reset overtakes it.
    if (end !== 'never') setTimeout(() => (end === 'fin' ? socket.end() : socket.resetAndDestroy()), 30);
  };

const okHead = (rest: string): string => `HTTP/1.1 200 OK\r\n${rest}\r\n`;
const jsonHead = okHead(`content-type: application/json\r\ncontent-length: ${String(half.length * 2)}\r\n`);
const eventsHead = okHead('content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n');
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** Failures before the first body byte: on every leg, streaming or not, they look the same to the client. */
const early: readonly Row[] = [
  { name: 'connection refused', strike: 'refuse', expected: unreachable },
  { name: 'reset before headers', strike: (_call, _res, socket) => void socket.resetAndDestroy(), expected: unreachable },
  { name: 'closed before headers', strike: (_call, _res, socket) => void socket.end(), expected: unreachable },
  { name: '400', strike: status(400), expected: { status: 400, body: engineError } },
  { name: '404', strike: status(404), expected: { status: 404, body: engineError } },
  { name: '429 with Retry-After', strike: status(429, { 'retry-after': '17' }), expected: { status: 429, body: engineError, headers: { 'retry-after': '17' } } },
  { name: '500', strike: status(500), expected: { status: 500, body: engineError } },
  { name: '503 with Retry-After', strike: status(503, { 'retry-after': '9' }), expected: { status: 503, body: engineError, headers: { 'retry-after': '9' } } },
  { name: 'not HTTP', strike: raw('220 mail.example.com ESMTP\r\n'), expected: invalid },
  { name: 'headers beyond all measure', strike: raw(okHead(`x-long: ${'x'.repeat(200_000)}\r\n`), 'never'), expected: invalid },
  { name: 'two lengths that disagree', strike: raw(okHead('content-length: 2\r\ncontent-length: 3\r\n') + '{} ', 'never'), expected: invalid },
  { name: 'an upgrade nobody asked for', strike: raw('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n', 'never'), expected: { status: 502 } },
  { name: 'silence', strike: () => undefined, expected: noFirstByte },
  {
    name: 'headers, then silence',
    strike: (_call, res) => {
      startEvents(res);
    },
    expected: noFirstByte,
  },
  { name: 'headers, then a reset', strike: raw(eventsHead, 'reset'), expected: unreachable },
];

const onPrefill: readonly Row[] = [
  ...early,
  { name: '302', strike: status(302, { location: '/elsewhere' }), expected: invalid },
  { name: 'invalid JSON', strike: (_call, res) => answerJson(res, half), expected: invalid },
  { name: 'an empty body', strike: (_call, res) => answerJson(res, ''), expected: invalid },
  { name: 'no object', strike: (_call, res) => answerJson(res, '[1]'), expected: invalid },
  { name: 'an error in a 200', strike: (_call, res) => answerJson(res, engineError), expected: invalid },
  { name: 'an error event in a 200', strike: raw(okHead('content-type: text/event-stream\r\nconnection: close\r\n') + errorEvent), expected: invalid },
  { name: 'reset mid-body', strike: raw(jsonHead + half, 'reset'), expected: unreachable },
  { name: 'content-length cut short', strike: raw(jsonHead + half), expected: { status: 502 } },
  { name: 'chunks cut short', strike: raw(okHead('transfer-encoding: chunked\r\n') + chunk(half)), expected: { status: 502 } },
  { name: 'silence mid-body', strike: raw(jsonHead + half, 'never'), expected: { status: 504, code: 'upstream_timeout', param: 'idle' } },
];

const onAnswer: readonly Row[] = [
  ...early,
  { name: '302', strike: status(302, { location: '/elsewhere' }), expected: { status: 302, body: engineError, headers: { location: '/elsewhere' } } },
  { name: 'invalid JSON', strike: (_call, res) => answerJson(res, half), expected: { status: 200, body: half } },
  { name: 'an empty body', strike: (_call, res) => answerJson(res, ''), expected: { status: 200, body: '' } },
  { name: 'early hints first', strike: raw(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${okHead('content-length: 2\r\n')}{}`), expected: { status: 200, body: '{}' } },
];

const onWhole: readonly Row[] = [
  { name: 'reset mid-body', strike: raw(jsonHead + half, 'reset'), expected: { status: 200, body: half, complete: false } },
  { name: 'content-length cut short', strike: raw(jsonHead + half), expected: { status: 200, body: half, complete: false } },
  { name: 'chunks cut short', strike: raw(okHead('transfer-encoding: chunked\r\n') + chunk(half)), expected: { status: 200, body: half, complete: false } },
  { name: 'a body that ends with its connection', strike: raw(okHead('content-type: application/json\r\n') + half), expected: { status: 200, body: half } },
  { name: 'silence mid-body', strike: raw(jsonHead + half, 'never'), expected: { status: 200, body: half, complete: false } },
];

const onStream: readonly Row[] = [
  { name: 'error event first', strike: raw(eventsHead + chunk(errorEvent) + '0\r\n\r\n'), expected: { status: 200, body: errorEvent } },
  { name: 'error event first, after a comment and in pieces', strike: raw(eventsHead + chunk(': hi\n\n') + Array.from(errorEvent, chunk).join('') + '0\r\n\r\n'), expected: { status: 200, body: `: hi\n\n${errorEvent}` } },
  { name: 'clean end without [DONE]', strike: raw(`${eventsHead + chunk(firstEvent)}0\r\n\r\n`), expected: { status: 200, body: firstEvent } },
  { name: 'a stream that ends with its connection', strike: raw(okHead('content-type: text/event-stream\r\n') + firstEvent), expected: { status: 200, body: firstEvent } },
  { name: 'reset mid-stream', strike: raw(eventsHead + chunk(firstEvent), 'reset'), expected: broken(null) },
  { name: 'chunks cut short', strike: raw(eventsHead + chunk(firstEvent)), expected: broken(null) },
  { name: 'a chunk cut short', strike: raw(`${eventsHead + chunk(firstEvent)}ff\r\ndata: {"cho`), expected: { ...broken(null), opens: `${firstEvent}data: {"cho` } },
  { name: 'garbage where a chunk should be', strike: raw(`${eventsHead + chunk(firstEvent)}zz\r\n`, 'never'), expected: broken(null) },
  { name: 'silence mid-stream', strike: raw(eventsHead + chunk(firstEvent), 'never'), expected: broken('idle') },
];

const flags = ['--first-byte-timeout-secs', '0.3', '--stream-idle-timeout-secs', '0.3', '--kv-connector', 'nixl'];

function check(answer: Exchanged, stream: boolean, expected: Expected): void {
  expect({ status: answer.status, complete: answer.complete }).toEqual({ status: expected.status, complete: expected.complete ?? true });
  if (expected.body !== undefined) expect(answer.text).toBe(expected.body);
  expect(answer.headers).toMatchObject(expected.headers ?? {});
  if (expected.code === undefined) return;
  const text = expected.opens === undefined ? answer.text : answer.text.slice(expected.opens.length).trimStart();
  if (expected.opens === undefined) {
    expect(answer.headers['x-switchyard-error']).toBe(expected.code);
  } else {
    expect(stream).toBe(true);
    expect(answer.text.startsWith(expected.opens)).toBe(true);
    expect(text).toMatch(/^data: .*\n\n$/);
  }
  expect(JSON.parse(text.replace(/^data: /, ''))).toEqual({
    error: { message: expect.stringMatching(/\w/), type: 'server_error', param: expected.param ?? null, code: expected.code },
  });
}

describe('13: what engines do wrong', () => {
  const started = new Started();
  let pair: RouterProcess;
  let single: RouterProcess;
  let engines: Record<'prefill' | 'decode' | 'single', ScriptedEngine>;
  const strikes = new Map<'prefill' | 'decode' | 'single', CallHandler>();

  beforeAll(async () => {
    const start = async (role: 'prefill' | 'decode' | 'single'): Promise<ScriptedEngine> => {
      const handle: CallHandler = (call, res, socket) => {
        // No connection is used twice, so that nothing is ever repeated as stale.
        res.shouldKeepAlive = false;
        const strike = strikes.get(role);
        if (strike !== undefined) return strike(call, res, socket);
        expect(isPrefillLeg(call)).toBe(role === 'prefill');
        answerJson(res, completion('fine', role === 'prefill' ? { kv_transfer_params: { do_remote_prefill: true, remote_engine_id: 'e', remote_block_ids: [1] } } : {}));
      };
      return started.add(await ScriptedEngine.start({ handle }), (engine) => engine.stop());
    };
    engines = { prefill: await start('prefill'), decode: await start('decode'), single: await start('single') };
    [pair, single] = await Promise.all([
      started.router([...flags, '--prefill', engines.prefill.url, '--decode', engines.decode.url]),
      started.router([...flags, '--worker-url', engines.single.url]),
    ]);
  }, 30_000);
  afterAll(async () => await started.end());

  async function run(leg: 'prefill' | 'decode' | 'single', stream: boolean, { strike, expected }: Row): Promise<void> {
    const router = leg === 'single' ? single : pair;
    const all = leg === 'single' ? { regular: 1 } : { prefill: 1, decode: 1 };
    await router.admin.selectable(all);
    const port = strike === 'refuse' ? await engines[leg].refuse() : null;
    if (strike !== 'refuse') strikes.set(leg, strike);
    const before = Object.values(engines).map((engine) => engine.inference().length);
    const answer = await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x', ...(stream ? { stream } : {}) }, { headers: { 'x-request-id': 'seen-by-the-client' } });
    const calls = Object.values(engines).map((engine, index) => engine.inference().length - before[index]!);
    strikes.clear();
    if (port !== null) await engines[leg].listenAgain(port);

    check(answer, stream, expected);
    expect(answer.headers['x-request-id']).toBe('seen-by-the-client');
    const reached = strike === 'refuse' ? 0 : 1;
    expect(calls).toEqual({ prefill: [reached, 0, 0], decode: [1, reached, 0], single: [0, 0, reached] }[leg]);
    await settled(router);
    await router.admin.selectable(all);
    expect((await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' })).status).toBe(200);
  }

  describe.each([false, true])('of a prefill call, stream %s', (stream) => {
    it.each(onPrefill)('$name', async (row) => await run('prefill', stream, row));
  });

  describe.each(['decode', 'single'] as const)('of a %s call', (leg) => {
    it.each([...onAnswer, ...onWhole])('$name', async (row) => await run(leg, false, row));
    it.each([...onAnswer, ...onStream])('streaming: $name', async (row) => await run(leg, true, row));
  });

  it('an engine that does not read: the request ends in time and frees its lease', async () => {
    const deaf = createServer({ pauseOnConnect: true }, (socket) => void socket.on('error', () => undefined));
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    started.add(deaf, (server) => server.close());
    const { port } = deaf.address() as AddressInfo;
    const router = await started.router(['--worker-url', `http://127.0.0.1:${String(port)}`, '--no-health-gate', '--first-byte-timeout-secs', '0.3', '--retry-max-attempts', '1']);
    await router.admin.selectable({ regular: 1 });
    const body = { model: 'm', prompt: 'x'.repeat(20_000_000) };
    const answer = await exchange(router.api, '/v1/completions', body);
    expect(answer).toMatchObject({ status: 504, headers: { 'x-switchyard-error': 'upstream_timeout' } });
    const client = await RawClient.post(router.api, '/v1/completions', body);
    await pause(100);
    client.leave('close');
    await settled(router);
  });
});
