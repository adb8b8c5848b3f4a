import { type RequestRecord } from './request-record.js';
import { call, eventually, type TestEngine, TestEngines } from '../testing/engines.fixture.js';

const engines = new TestEngines();
let engine: TestEngine;
beforeAll(async () => {
  engine = await engines.start();
});
afterEach(() => call(`${engine.url}/__sim/fault`, { method: 'DELETE' }));
afterAll(() => engines.stop());

const path = '/v1/completions';
const whole = { prompt: 'fault', max_tokens: 20 };
const streamed = { ...whole, stream: true };
const eventsIn = (text: string): number => text.split('\n\n').length - 1;

describe('faults on command', () => {
  it('give a status as often as told, with body and headers', async () => {
    await engine.fault({ kind: 'status', status: 503, times: 2, body: { error: { message: 'busy' } }, headers: { 'retry-after': '7' } });
    const replies = [await engine.post(path, whole), await engine.post(path, whole), await engine.post(path, whole)];
    expect(replies.map((reply) => reply.status)).toEqual([503, 503, 200]);
    expect(replies[0]).toMatchObject({ text: '{"error":{"message":"busy"}}', headers: { 'retry-after': '7' } });
  });

  it('hit the phase and the path they name only, and leave probes alone', async () => {
    await engine.fault({ kind: 'status', status: 500, phase: 'prefill' });
    await engine.fault({ kind: 'status', status: 501, path: '/v1/chat/completions' });
    await engine.fault({ kind: 'status', status: 502, path: '/version' });
    expect((await engine.post(path, whole)).status).toBe(200);
    expect((await engine.post(path, { ...whole, max_tokens: 1, kv_transfer_params: { do_remote_decode: true } })).status).toBe(500);
    expect((await engine.post('/v1/chat/completions', {})).status).toBe(501);
    expect((await call(`${engine.url}/version`)).status).toBe(502);
    expect((await call(`${engine.url}/health`)).status).toBe(200);
  });

  it('reset before any byte', async () => {
    await engine.fault({ kind: 'reset' });
    await expect(engine.post(path, streamed)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it.each(['reset_after_bytes', 'fin_mid_stream'])('break a stream after its events: %s', async (kind) => {
    await engine.fault({ kind, events: 4 });
    const reply = await engine.post(path, streamed);
    expect(reply.broken).not.toBeNull();
    expect(eventsIn(reply.text)).toBe(4);
    await engine.fault({ kind });
    expect((await engine.post(path, whole)).broken).not.toBeNull();
  });

  it('end a stream cleanly but too early, or with an error event', async () => {
    await engine.fault({ kind: 'end_mid_stream', events: 2, times: 1 });
    const early = await engine.post(path, streamed);
    expect([early.broken, eventsIn(early.text), early.text.includes('[DONE]\n')]).toEqual([null, 2, false]);
    await engine.fault({ kind: 'error_event_mid_stream', events: 2, times: 1 });
    const failing = await engine.post(path, streamed);
    expect(failing.text.split('\n\n')[2]).toMatch(/^data: \{"error": /);
    await engine.fault({ kind: 'error_event_first', times: 1 });
    expect((await engine.post(path, streamed)).text).toMatch(/^data: \{"error": /);
  });

  it('truncate the JSON of a whole answer', async () => {
    await engine.fault({ kind: 'invalid_body' });
    const reply = await engine.post(path, whole);
    expect([reply.status, reply.broken]).toEqual([200, null]);
    expect(() => void JSON.parse(reply.text)).toThrow(SyntaxError);
  });

  it('hang until the client leaves, which is recorded', async () => {
    await engine.fault({ kind: 'hang' });
    const gone = new AbortController();
    const pending = call(engine.url + path, { body: whole, headers: { 'x-request-id': 'left-hanging' }, signal: gone.signal });
    const record = async (): Promise<RequestRecord | undefined> => (await engine.requests()).find((candidate) => candidate.requestId === 'left-hanging' && candidate.phase !== null);
    await eventually(record);
    gone.abort();
    await expect(pending).rejects.toThrow();
    await eventually(async () => (await record())?.aborted);
    expect(await record()).toMatchObject({ status: null, faults: ['hang'] });
  });

  it('change health and models, and pass when cleared', async () => {
    await engine.fault({ kind: 'health', status: 500 });
    await engine.fault({ kind: 'models', ids: ['other'] });
    expect((await call(`${engine.url}/health`)).status).toBe(500);
    expect(JSON.parse((await call(`${engine.url}/v1/models`)).text).data).toMatchObject([{ id: 'other' }]);
    expect((await engine.post(path, { ...whole, model: 'sim-model' })).status).toBe(404);
    await call(`${engine.url}/__sim/fault`, { method: 'DELETE' });
    expect((await call(`${engine.url}/health`)).status).toBe(200);
    expect((await engine.post(path, { ...whole, model: 'sim-model' })).status).toBe(200);
  });

  it('crash at once, or when a request of the named phase comes', async () => {
    const victim = await engines.start();
    await victim.fault({ kind: 'crash', phase: 'single' });
    expect(victim.crashed()).toBe(false);
    const gone = new AbortController();
    const pending = call(victim.url + path, { body: whole, signal: gone.signal }).catch(() => null);
    await eventually(() => victim.crashed());
    gone.abort();
    await pending;
  });

  it('are refused when misspelt', async () => {
    for (const fault of [{ kind: 'explode' }, { kind: 'hang', phases: 'decode' }, { kind: 'slow', factor: 'x' }, []]) {
      expect((await engine.post('/__sim/fault', fault)).status).toBe(400);
    }
  });
});
