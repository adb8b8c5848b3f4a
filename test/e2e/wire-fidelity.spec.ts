import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import { settled } from '../support/accounts.js';
import { exchange } from '../support/exchange.js';
import { Started } from '../support/fleet.js';
import { RawClient } from '../support/raw-client.js';
import { type RouterProcess } from '../support/router-process.js';
import { answerJson, type CallHandler, completion, type EngineCall, ScriptedEngine } from '../support/scripted-engine.js';

const params = '{"do_remote_prefill":true,"do_remote_decode":false,"remote_engine_id":"e_dp0","remote_block_ids":[18446744073709551615,1.0],"remote_host":"h","remote_port":1}';

/** Bodies whose meaning does not survive being parsed and written again. */
const delicate = [
  ['64-bit integers', '{"model":"m","prompt":"x","seed":18446744073709551615,"logit_bias":{"9007199254740993":-1}}'],
  ['numbers as they are written', '{"model":"m","prompt":"x","temperature":1.0,"top_p":1E-2,"frequency_penalty":-0.0,"a":0.10000000000000000001}'],
  ['not-numbers', '{"model":"m","prompt":"x","a":NaN,"b":Infinity,"c":-Infinity}'],
  ['white space and order', '\n{ "prompt"\t:"x" ,\r\n "model" : "m","z":1,\n"a":2 }\n\n'],
  ['escapes', '{"model":"m","prompt":"\\u0041\\ud83c\\udf0d\\/\\b","\\u0078":"\\u00e9"}'],
  ['bytes of several-byte characters', '{"model":"m","prompt":"北京🌍é\u2028👩‍👩‍👧"}'],
  ['members that come twice', '{"model":"n","prompt":"y","user":"a","model":"m","prompt":"x","user":"b"}'],
  ['a byte order mark', '\ufeff{"model":"m","prompt":"x"}'],
  ['a null and nested depth', `{"model":"m","prompt":"x","a":null,"d":${'['.repeat(500)}${']'.repeat(500)}}`],
] as const;

describe('bytes and headers on their way', () => {
  const started = new Started();
  let pair: RouterProcess;
  let single: RouterProcess;
  let engines: Record<'prefill' | 'decode' | 'single', ScriptedEngine>;
  let answer: CallHandler = (_call, res) => answerJson(res, completion('fine'));

  beforeAll(async () => {
    const start = async (handle: CallHandler): Promise<ScriptedEngine> => started.add(await ScriptedEngine.start({ handle }), (engine) => engine.stop());
    engines = {
      prefill: await start((_call, res) => answerJson(res, JSON.stringify(completion('x')).replace(/}$/, `,"kv_transfer_params":${params}}`))),
      decode: await start((call, res, socket) => answer(call, res, socket)),
      single: await start((call, res, socket) => answer(call, res, socket)),
    };
    [pair, single] = await Promise.all([
      started.router(['--prefill', engines.prefill.url, '--decode', engines.decode.url, '--kv-connector', 'nixl', '--expose-route-headers']),
      started.router(['--worker-url', engines.single.url]),
    ]);
    await pair.admin.selectable({ prefill: 1, decode: 1 });
    await single.admin.selectable({ regular: 1 });
  }, 30_000);
  afterEach(async () => {
    answer = (_call, res) => answerJson(res, completion('fine'));
    await settled(pair);
    await settled(single);
  });
  afterAll(async () => await started.end());

  const last = (leg: 'prefill' | 'decode' | 'single'): EngineCall => engines[leg].inference().at(-1)!;

  describe('request bodies', () => {
    it.each(delicate)('%s reach a single worker as sent', async (_name, body) => {
      expect((await exchange(single.api, '/v1/completions', body)).status).toBe(200);
      expect(last('single').body).toBe(body);
      expect(last('single').headers['content-length']).toBe(String(Buffer.byteLength(body)));
    });

    it.each(delicate)('%s reach decode with nothing but the hand-off added, as prefill gave it', async (_name, body) => {
      expect((await exchange(pair.api, '/v1/completions', body)).status).toBe(200);
      const { body: sent, headers } = last('decode');
      expect(sent.split(params)).toHaveLength(2);
      expect(sent.replace(new RegExp(`,?\\s*"kv_transfer_params":\\s*${params.replaceAll(/[[\]{}.]/g, '\\$&')}`), '')).toBe(body);
      expect(headers['content-length']).toBe(String(Buffer.byteLength(sent)));
    });

    it('on the prefill leg only what has to be different is', async () => {
      const body =
        '{"model":"m", "seed":18446744073709551615 ,"max_tokens":5,"stream":true,"stream_options":{"include_usage":true},"n":3,"best_of":4,"min_tokens":9,' +
        '"temperature":1.0,"logprobs":2,"prompt":"é\\u00e9","max_tokens":7,"kv_transfer_params":{"remote_host":"evil"}}';
      expect((await exchange(pair.api, '/v1/completions', body)).status).toBe(200);
      const { body: sent } = last('prefill');
      for (const kept of ['"model":"m"', '"seed":18446744073709551615', '"temperature":1.0', '"prompt":"é\\u00e9"']) expect(sent).toContain(kept);
      expect(sent.match(/"max_tokens"/g)).toHaveLength(1);
      expect(JSON.parse(sent)).toEqual({
        ...{ model: 'm', seed: 18446744073709551615, max_tokens: 1, stream: false, n: 1, best_of: 1, min_tokens: 1, temperature: 1, prompt: 'éé' },
        kv_transfer_params: { do_remote_decode: true, do_remote_prefill: false, remote_engine_id: null, remote_block_ids: null, remote_host: null, remote_port: null },
      });
      expect(last('decode').body).not.toContain('evil');
      expect(last('decode').body.match(/"kv_transfer_params"/g)).toHaveLength(1);
      expect(last('decode').body).toContain('"max_tokens":5,"stream":true,"stream_options":{"include_usage":true},"n":3');
    });

    it('no client hands an engine of a pair a cache of its choice', async () => {
      const body = '{"model":"m","prompt":"x","kv_transfer_params":{"a":1},"kv_transfer_params":{"remote_host":"evil"}}';
      await exchange(pair.api, '/v1/completions', body);
      expect([last('prefill').body, last('decode').body].join()).not.toMatch(/evil|"a":1/);
    });

    it('a body of 5 MiB is whole on both legs, chunked or not', async () => {
      const prompt = randomBytes(3_932_160).toString('base64');
      const body = `{"model":"m","prompt":"${prompt}"}`;
      for (const headers of [{}, { 'content-length': [], 'transfer-encoding': 'chunked' }]) {
        expect((await exchange(pair.api, '/v1/completions', body, { headers })).status).toBe(200);
        expect(last('prefill').body.includes(prompt)).toBe(true);
        expect(last('decode').body.includes(prompt)).toBe(true);
        expect(JSON.parse(last('decode').body).model).toBe('m');
      }
    });
  });

  /** A stream with everything that careless readers of event streams break on. */
  const stream = Buffer.concat([
    Buffer.from(': a comment\r\n\r\n:\n\nevent: delta\nid: 1\nretry: 5\ndata: {"text":"北京🌍é"}\n\n'),
    Buffer.from('data: two\rdata: lines\r\rdata:no space\r\n\r\ndata: {"n":18446744073709551615,"x":1.0}\n\n\n\n'),
    Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0x20, 0xff, 0xfe, 0x00, 0xc3, 0x0a, 0x0a]),
    Buffer.from(`data: ${'👩‍👩‍👧'.repeat(10_000)}\n\ndata: [DONE]\n\ndata: after the end\n\nno line end`),
  ]);

  const cuts: readonly (readonly [string, (bytes: Buffer) => Buffer[]])[] = [
    ['whole', (bytes) => [bytes]],
    ['byte by byte at the beginning', (bytes) => [...Array.from({ length: 200 }, (_, index) => bytes.subarray(index, index + 1)), bytes.subarray(200)]],
    ['in pieces of 7', (bytes) => Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) => bytes.subarray(index * 7, index * 7 + 7))],
  ];

  describe.each(['pair', 'single'] as const)('answers from a %s', (kind) => {
    const router = (): RouterProcess => (kind === 'pair' ? pair : single);

    it.each(cuts)('an event stream %s arrives byte for byte', async (_name, cut) => {
      answer = async (_call, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        for (const [index, piece] of cut(stream).entries()) {
          res.write(piece);
          if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        res.end();
      };
      const got = await exchange(router().api, '/v1/completions', { model: 'm', prompt: 'x', stream: true });
      expect(got).toMatchObject({ status: 200, complete: true, headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
      expect(got.body.equals(stream)).toBe(true);
    });

    it('each event leaves when it comes, not with the next one', async () => {
      const steps: (() => void)[] = [];
      answer = (_call, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const text of ['data: one\n\n', 'data: two, half', ' of it\n\n']) steps.push(() => void res.write(text));
        steps.push(() => res.end());
        steps.shift()!();
      };
      const client = await RawClient.post(router().api, '/v1/completions', { model: 'm', prompt: 'x', stream: true });
      for (const text of ['data: one\n\n', 'data: two, half', ' of it\n\n']) {
        await client.until(text, 1_000);
        steps.shift()!();
      }
      await client.until('0\r\n\r\n');
      client.leave('close');
    });

    it.each([
      ['encoded', gzipSync('{"a":1}'), { 'content-encoding': 'gzip', 'content-type': 'application/json' }],
      ['encoded events', gzipSync('data: {"error":{}}\n\n'), { 'content-encoding': 'gzip', 'content-type': 'text/event-stream' }],
      ['binary', Buffer.from(Array.from({ length: 256 }, (_, index) => index)), { 'content-type': 'application/octet-stream' }],
      ['long', randomBytes(3_000_000), { 'content-type': 'application/json' }],
      ['exactly 64 KiB', randomBytes(65_536), { 'content-type': 'application/json' }],
      ['one byte more', randomBytes(65_537), { 'content-type': 'application/json' }],
    ] as const)('a body that is %s arrives as it was sent, by length and in chunks', async (_name, body, headers) => {
      for (const length of [{ 'content-length': String(body.length) }, {}]) {
        answer = (_call, res) => void res.writeHead(200, { ...headers, ...length }).end(body);
        const got = await exchange(router().api, '/v1/completions', { model: 'm', prompt: 'x' });
        expect(got).toMatchObject({ status: 200, complete: true, headers: { ...headers, ...length } });
        expect(got.body.equals(body)).toBe(true);
      }
    });

    it('what an engine sends after its answer comes to nobody', async () => {
      answer = (_call, _res, socket) =>
        void socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\ngoodHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil');
      for (let round = 0; round < 5; round += 1) expect((await exchange(router().api, '/v1/completions', { model: 'm', prompt: 'x' })).text).toBe('good');
    });
  });

  describe('headers to engines', () => {
    const sent = async (router: RouterProcess, headers: Record<string, string | readonly string[]>, path = '/v1/completions'): Promise<void> => {
      expect((await exchange(router.api, path, { model: 'm', prompt: 'x' }, { headers })).status).toBe(200);
    };

    it('end-to-end ones go along on every leg, with their case, order and repetitions; the others stay', async () => {
      const headers = {
        'X-First': ['1', '2'],
        'User-Agent': 'me/1.0',
        Traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        Authorization: 'Bearer of-the-client',
        'X-Api-Key': 'also of the client',
        'X-Latin': 'caf\u00e9',
        Cookie: 'session=secret',
        Connection: 'close, X-Named',
        'X-Named': 'only for this connection',
        'Keep-Alive': 'timeout=5',
        'Proxy-Authorization': 'Basic c2VjcmV0',
        TE: 'trailers',
        'X-Switchyard-Prefill': 'prefill-1',
        'X-Data-Parallel-Rank': '3',
        'Accept-Encoding': 'gzip, br',
        Range: 'bytes=0-1',
        'If-None-Match': '"x"',
      };
      await sent(pair, headers, '/v1/completions?trace=1&x=%2F');
      await sent(single, headers, '/v1/completions?trace=1&x=%2F');
      for (const leg of ['prefill', 'decode', 'single'] as const) {
        const call = last(leg);
        expect(call.path).toBe('/v1/completions?trace=1&x=%2F');
        const names = call.rawHeaders.filter((_, index) => index % 2 === 0);
        expect(call.headers).toMatchObject({ 'user-agent': 'me/1.0', traceparent: headers.Traceparent, authorization: 'Bearer of-the-client', 'x-api-key': 'also of the client', 'x-latin': 'caf\u00e9', host: engines[leg].address });
        expect(call.headersDistinct['x-first']).toEqual(['1', '2']);
        expect(names.indexOf('X-First')).toBeLessThan(names.indexOf('User-Agent'));
        for (const name of ['cookie', 'x-named', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'x-switchyard-prefill', 'x-data-parallel-rank', 'expect', 'transfer-encoding']) expect(call.headers[name]).toBeUndefined();
        expect(names.filter((name) => name.toLowerCase() === 'host')).toHaveLength(1);
        expect(names.filter((name) => name.toLowerCase() === 'content-length')).toHaveLength(1);
        expect(names.filter((name) => name.toLowerCase() === 'x-request-id')).toHaveLength(1);
        const own = leg === 'prefill' ? { 'accept-encoding': 'identity', range: undefined, 'if-none-match': undefined } : { 'accept-encoding': 'gzip, br', range: 'bytes=0-1', 'if-none-match': '"x"' };
        for (const [name, value] of Object.entries(own)) expect(call.headers[name]).toBe(value);
      }
    });

    it('request ids: the client sees its own, each leg and attempt has one derived from it', async () => {
      const got = await exchange(pair.api, '/v1/completions', { model: 'm', prompt: 'x' }, { headers: { 'x-request-id': 'mine' } });
      expect(got.headers['x-request-id']).toBe('mine');
      expect(last('prefill').headers['x-request-id']).toMatch(/^mine-[0-9a-f]{8}$/);
      expect(last('decode').headers['x-request-id']).toBe(last('prefill').headers['x-request-id']);
      await exchange(single.api, '/v1/completions', { model: 'm', prompt: 'x' }, { headers: { 'x-request-id': 'mine' } });
      expect(last('single').headers['x-request-id']).toBe('mine');
      for (const bad of ['x'.repeat(129), 'two words', 'caf\u00e9', '']) {
        const replaced = await exchange(single.api, '/v1/completions', { model: 'm', prompt: 'x' }, { headers: { 'x-request-id': bad } });
        expect(replaced.headers['x-request-id']).toMatch(/^cmpl-[0-9a-f]{24}$/);
        expect(last('single').headers['x-request-id']).toBe(replaced.headers['x-request-id']);
      }
      const chat = await exchange(single.api, '/v1/chat/completions', { model: 'm', messages: [] });
      expect(chat.headers['x-request-id']).toMatch(/^chatcmpl-[0-9a-f]{24}$/);
    });

    it('credentials: the engine key replaces those of clients; a client key is for the router alone', async () => {
      const keyed = await started.router(['--worker-url', engines.single.url, '--client-api-key', 'one', '--client-api-key', 'two']);
      const both = await started.router(['--worker-url', engines.single.url, '--client-api-key', 'one', '--engine-api-key', 'inner']);
      const inner = await started.router(['--worker-url', engines.single.url, '--engine-api-key', 'inner']);
      await Promise.all([keyed, both, inner].map((router) => router.admin.selectable({ regular: 1 })));
      const seen = async (router: RouterProcess, headers: Record<string, string>): Promise<unknown> => {
        const { status } = await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' }, { headers });
        if (status !== 200) return status;
        const call = last('single');
        return [call.headersDistinct['authorization'], call.headers['x-api-key']];
      };
      expect(await seen(keyed, {})).toBe(401);
      expect(await seen(keyed, { authorization: 'Bearer three' })).toBe(401);
      expect(await seen(keyed, { authorization: 'Bearer two' })).toEqual([undefined, undefined]);
      expect(await seen(keyed, { 'x-api-key': 'one' })).toEqual([undefined, undefined]);
      expect(await seen(both, { authorization: 'Bearer one' })).toEqual([['Bearer inner'], undefined]);
      expect(await seen(inner, { authorization: 'Bearer any', 'x-api-key': 'any' })).toEqual([['Bearer inner'], undefined]);
      for (const router of [keyed, both, inner]) await settled(router);
    });
  });

  describe('headers to clients', () => {
    it('end-to-end ones arrive in order and repeated; hop-by-hop, engine ids and forged ones do not', async () => {
      answer = (_call, _res, socket) =>
        void socket.end(
          'HTTP/1.1 200 Fine Thanks\r\nServer: uvicorn\r\nSet-Cookie: a=1\r\nX-One: 1\r\nSet-Cookie: b=2\r\nX-Latin: caf\u00e9\r\nX-Request-Id: internal\r\nX-Switchyard-Error: forged\r\n' +
            'X-Switchyard-Decode: forged\r\nConnection: keep-alive, X-Named\r\nX-Named: hop\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nUpgrade: h2c\r\nTrailer: X\r\nOpenAI-Processing-Ms: 7\r\n' +
            'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
          'latin1',
        );
      for (const router of [pair, single]) {
        const got = await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'x' }, { headers: { 'x-request-id': 'mine' } });
        expect(got).toMatchObject({ status: 200, text: '{}', headers: { server: 'uvicorn', 'set-cookie': ['a=1', 'b=2'], 'x-one': '1', 'x-latin': 'caf\u00e9', 'openai-processing-ms': '7', 'x-request-id': 'mine' } });
        const names = got.rawHeaders.filter((_, index) => index % 2 === 0);
        expect(names.slice(0, 5)).toEqual(['Server', 'Set-Cookie', 'X-One', 'Set-Cookie', 'X-Latin']);
        expect(names.filter((name) => name.toLowerCase() === 'x-request-id')).toHaveLength(1);
        for (const name of ['x-switchyard-error', 'x-named', 'proxy-authenticate', 'upgrade', 'trailer']) expect(got.headers[name]).toBeUndefined();
        expect(got.rawHeaders).not.toContain('forged');
      }
    });

    it('names of workers only when asked for', async () => {
      const shown = await exchange(pair.api, '/v1/completions', { model: 'm', prompt: 'x' });
      expect(shown.headers).toMatchObject({ 'x-switchyard-prefill': expect.stringMatching(/^prefill-\d+$/), 'x-switchyard-decode': expect.stringMatching(/^decode-\d+$/), 'x-switchyard-reason': expect.any(String) });
      const hidden = await exchange(single.api, '/v1/completions', { model: 'm', prompt: 'x' });
      expect(Object.keys(hidden.headers).filter((name) => name.startsWith('x-switchyard-'))).toEqual([]);
    });
  });
});
