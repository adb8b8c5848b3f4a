import { createHash } from 'node:crypto';
import OpenAI from 'openai';
import { type TestEngine, TestEngines } from '../testing/engines.fixture.js';

const engines = new TestEngines();
let engine: TestEngine;
beforeAll(async () => {
  engine = await engines.start('--max-model-len', '1000');
});
afterAll(() => engines.stop());

const messages = [{ role: 'user', content: 'Where is 北京?' }];
const tools = [{ type: 'function', function: { name: 'find', parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } } } }];

async function chat(body: object): Promise<any> {
  const reply = await engine.post('/v1/chat/completions', { model: 'sim-model', messages, ...body });
  return { status: reply.status, ...JSON.parse(reply.text) };
}

describe('validation, as vLLM does it', () => {
  it.each([
    ['stream_options without stream', { stream_options: { include_usage: true } }, /Stream options can only be defined when `stream=True`/],
    ['min_tokens above max_tokens', { min_tokens: 5, max_tokens: 4 }, /min_tokens must be less than or equal to max_tokens=4, got 5/],
    ['n below 1', { n: 0 }, /n must be at least 1/],
    ['max_tokens below 1', { max_tokens: 0 }, /max_tokens must be at least 1/],
    ['a limit that is no number', { max_tokens: '5' }, /valid integer/],
    ['no messages', { messages: [] }, /at least one message/],
    ['a context that does not fit', { max_tokens: 990 }, /maximum context length is 1000 tokens/],
    ['a forced call cut short', { tools, tool_choice: 'required', max_tokens: 1 }, /Invalid JSON/],
    ['a named call cut short', { tools, tool_choice: { type: 'function', function: { name: 'find' } }, max_tokens: 1 }, /Invalid JSON/],
    ['tool_choice without tools', { tool_choice: 'required' }, /`tools` must be set/],
    ['max_completion_tokens going first', { max_completion_tokens: 2, max_tokens: 100, min_tokens: 3 }, /max_tokens=2, got 3/],
  ])('refuses %s', async (_, body, message) => {
    const answer = await chat(body);
    expect(answer).toMatchObject({ status: 400, error: { code: 400, message: expect.stringMatching(message) } });
  });

  it('tells an unknown model 404, broken JSON 400, another media type 400', async () => {
    expect(await chat({ model: 'other' })).toMatchObject({ status: 404, error: { type: 'NotFoundError' } });
    expect((await engine.post('/v1/completions', '{"prompt":"a",}')).status).toBe(400);
    expect((await engine.post('/v1/completions', '{"prompt":"a"}', { 'content-type': 'text/plain' })).status).toBe(400);
  });

  it('reads the JSON that Python reads', async () => {
    const reply = await engine.post('/v1/completions', '\uFEFF{"prompt":"NaN \\" Infinity","temperature":NaN,"x":[-Infinity],"max_tokens":1}');
    expect(reply.status).toBe(200);
  });
});

describe('answers', () => {
  it('say the same for the same prompt, streamed or not, and something else for another', async () => {
    const whole = await chat({ max_tokens: 40 });
    const again = await chat({ max_tokens: 40 });
    const other = await chat({ max_tokens: 40, messages: [{ role: 'user', content: 'else' }] });
    const streamed = await engine.post('/v1/chat/completions', { messages, max_tokens: 40, stream: true });
    const deltas = streamed.text
      .split('\n\n')
      .filter((event) => event.startsWith('data: {'))
      .map((event) => JSON.parse(event.slice(6)).choices[0].delta.content);
    expect(whole.choices[0].finish_reason).toBe('length');
    expect(again.choices).toEqual(whole.choices);
    expect(other.choices[0].message.content).not.toBe(whole.choices[0].message.content);
    expect(deltas.join('')).toBe(whole.choices[0].message.content);
  });

  it('end by themselves where the marker says so', async () => {
    const answer = await chat({ messages: [{ role: 'user', content: '[[sim:tokens=1]]' }], max_tokens: 1 });
    expect(answer.choices[0].finish_reason).toBe('stop');
    expect(answer.usage.completion_tokens).toBe(1);
  });

  it('are recorded with the hash and length of exactly the bytes that came', async () => {
    for (const stream of [true, false]) {
      const id = `bytes-${String(stream)}`;
      const reply = await engine.post('/v1/completions', { prompt: 'hash me', max_tokens: 60, stream }, { 'x-request-id': id });
      const bytes = Buffer.from(reply.text);
      const record = (await engine.requests()).find((candidate) => candidate.requestId === id);
      expect(record).toMatchObject({ responseBytes: bytes.length, responseSha256: createHash('sha256').update(bytes).digest('hex'), aborted: false, status: 200 });
      expect(reply.text).toContain('"big":9223372036854775807,"ratio":1.0');
      expect(reply.text).toContain(`"id":"cmpl-${id}"`);
    }
  });

  it('stream one event a token, the usage when asked, and [DONE]', async () => {
    const reply = await engine.post('/v1/completions', { prompt: 'x', max_tokens: 5, ignore_eos: true, stream: true, stream_options: { include_usage: true } });
    const events = reply.text.split('\n\n');
    expect(events).toHaveLength(8);
    expect(events.slice(6)).toEqual(['data: [DONE]', '']);
    expect(JSON.parse(events[5]!.slice(6))).toMatchObject({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 5, total_tokens: 6 } });
    expect(JSON.parse(events[4]!.slice(6)).choices[0].finish_reason).toBe('length');
    expect(reply.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  });

  it('give n choices for each prompt', async () => {
    const reply = await engine.post('/v1/completions', { prompt: [[1, 2, 3], [4]], n: 2, max_tokens: 2 });
    const answer = JSON.parse(reply.text);
    expect(answer.choices.map((choice: any) => choice.index)).toEqual([0, 1, 2, 3]);
    expect(answer.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 8 });
  });
});

describe('the official client', () => {
  const client = (): OpenAI => new OpenAI({ baseURL: `${engine.url}/v1`, apiKey: 'none', maxRetries: 0 });

  it('reads streams and whole answers alike', async () => {
    const body = { model: 'sim-model', messages: [{ role: 'user' as const, content: 'stream to a client' }], max_tokens: 60 };
    const whole = await client().chat.completions.create(body);
    let text = '';
    for await (const chunk of await client().chat.completions.create({ ...body, stream: true })) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(text.length).toBeGreaterThan(60);
  });

  it.each([true, false])('gets a forced tool call whose arguments parse (streamed: %s)', async (stream) => {
    const runner = { model: 'sim-model', messages: [{ role: 'user' as const, content: 'go' }], tools: tools as OpenAI.ChatCompletionFunctionTool[], tool_choice: 'required' as const };
    const answer = stream
      ? await client().chat.completions.stream({ ...runner, stream: true }).finalChatCompletion()
      : await client().chat.completions.create(runner);
    const [toolCall] = answer.choices[0]?.message.tool_calls ?? [];
    expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
    expect(toolCall).toMatchObject({ type: 'function', function: { name: 'find' } });
    expect(JSON.parse((toolCall as any).function.arguments)).toEqual({ city: expect.stringContaining('北京'), days: 42 });
  });
});
