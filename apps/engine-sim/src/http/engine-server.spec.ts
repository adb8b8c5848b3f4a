import { Agent } from 'node:http';
import { connect } from 'node:net';
import { call, eventually, TestEngines } from '../testing/engines.fixture.js';

const engines = new TestEngines();
afterEach(() => engines.stop());

describe('the HTTP face', () => {
  it('closes idle connections on time and promises nothing about them', async () => {
    const engine = await engines.start('--idle-timeout-secs', '0.2');
    const { port } = new URL(engine.url);
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.write('GET /version HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually(() => text.includes('0.11.0'));
    const answeredMs = performance.now();
    await new Promise((resolve) => socket.on('end', resolve));
    const idleMs = performance.now() - answeredMs;
    expect(idleMs).toBeGreaterThan(150);
    expect(idleMs).toBeLessThan(900);
    expect(text.toLowerCase()).not.toMatch(/keep-alive|connection:/);
    expect(text).toMatch(/server: uvicorn/);
  });

  it('sends the head of a stream long before its first event', async () => {
    const engine = await engines.start();
    await engine.fault({ kind: 'slow_first_byte', ms: 300 });
    await engine.post('/v1/completions', { prompt: 'x', stream: true, max_tokens: 2 }, { 'x-request-id': 'late' });
    const record = (await engine.requests())[0]!;
    expect(record.headAtMs! - record.receivedAtMs).toBeLessThan(150);
    expect(record.firstByteAtMs! - record.headAtMs!).toBeGreaterThan(250);
  });

  it('wants the key on /v1 only', async () => {
    const engine = await engines.start('--api-key', 'secret');
    const models = `${engine.url}/v1/models`;
    expect((await call(models)).status).toBe(401);
    expect((await call(models, { headers: { authorization: 'Bearer secret' } })).status).toBe(200);
    expect((await call(`${engine.url}/health`)).status).toBe(200);
  });

  it('ends a generation when its client leaves, and counts it', async () => {
    const engine = await engines.start('--decode-ms-per-token', '20');
    const gone = new AbortController();
    const pending = call(`${engine.url}/v1/completions`, { body: { prompt: 'x', stream: true, max_tokens: 1000, ignore_eos: true }, signal: gone.signal });
    await eventually(async () => ((await engine.requests())[0]?.events ?? 0) > 2);
    expect(await engine.state()).toMatchObject({ running: 1 });
    gone.abort();
    await pending.catch(() => null);
    await eventually(async () => (await engine.state()).running === 0);
    expect(await engine.state()).toMatchObject({ requests: { aborted: 1 } });
    expect((await call(`${engine.url}/metrics`)).text).toMatch(/vllm:request_success_total\{model_name="sim-model",engine="0",finished_reason="abort"\} 1/);
  });

  it('lets requests wait when as many run as may', async () => {
    const engine = await engines.start('--max-num-seqs', '1', '--decode-ms-per-token', '5');
    const all = [1, 2, 3].map((number) => engine.post('/v1/completions', { prompt: String(number), max_tokens: 20 }));
    await eventually(async () => {
      const state = await engine.state();
      return state.running === 1 && state.waiting === 2;
    });
    expect((await call(`${engine.url}/load`)).text).toBe('{"server_load":3}');
    expect((await Promise.all(all)).map((reply) => reply.status)).toEqual([200, 200, 200]);
    expect(await engine.state()).toMatchObject({ running: 0, waiting: 0 });
  });

  it('has the pages of vLLM', async () => {
    const engine = await engines.start('--model', 'm', '--vllm-version', '0.12.1');
    expect(JSON.parse((await call(`${engine.url}/version`)).text)).toEqual({ version: '0.12.1' });
    expect(JSON.parse((await call(`${engine.url}/v1/models`)).text)).toMatchObject({ object: 'list', data: [{ id: 'm', object: 'model' }] });
    expect((await call(`${engine.url}/v1/models/none`)).status).toBe(404);
    const tokens = JSON.parse((await engine.post('/tokenize', { prompt: 'naïve 🌍' })).text);
    expect(tokens.count).toBe(3);
    expect(JSON.parse((await engine.post('/detokenize', { tokens: tokens.tokens })).text)).toEqual({ prompt: 'naïve 🌍' });
    const started = /^process_start_time_seconds (\S+)/m.exec((await call(`${engine.url}/metrics`)).text)?.[1];
    expect(Math.abs(Number(started) - (Date.now() / 1000 - process.uptime()))).toBeLessThan(2);
    expect((await call(`${engine.url}/health`, { method: 'POST', body: '{}' })).status).toBe(405);
    expect((await call(`${engine.url}/nowhere`)).status).toBe(404);
  });

  it('numbers connections and the requests on them', async () => {
    const engine = await engines.start();
    const agent = new Agent({ keepAlive: true });
    for (let round = 0; round < 2; round += 1) await call(`${engine.url}/v1/completions`, { body: { prompt: 'x', max_tokens: 1 }, agent });
    agent.destroy();
    const records = await engine.requests();
    expect(records.map((record) => [record.connection, record.requestOnConnection])).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });
});
