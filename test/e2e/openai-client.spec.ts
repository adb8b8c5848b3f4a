import OpenAI from 'openai';

import { type EngineProcess } from '../support/engine-process.js';
import { Started } from '../support/fleet.js';
import { type RouterProcess } from '../support/router-process.js';

interface Setup {
  readonly connector: 'p2p-nccl' | 'nixl' | 'moriio' | 'auto-nixl' | 'auto-p2p';
  readonly flag: string;
  readonly sim: string;
}

const setups: readonly Setup[] = [
  { connector: 'p2p-nccl', flag: 'p2p-nccl', sim: 'p2p-nccl' },
  { connector: 'nixl', flag: 'nixl', sim: 'nixl' },
  { connector: 'moriio', flag: 'auto', sim: 'moriio' },
  { connector: 'auto-nixl', flag: 'auto', sim: 'nixl' },
  { connector: 'auto-p2p', flag: 'auto', sim: 'p2p-nccl' },
];

const weather: OpenAI.Chat.Completions.ChatCompletionTool = {
  type: 'function',
  function: { name: 'weather', description: 'tells the weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
};

describe.each(setups)('18: the official OpenAI client over $connector', ({ flag, sim }) => {
  const started = new Started();
  let router: RouterProcess;
  let engines: EngineProcess[];
  let client: OpenAI;
  let undivided: OpenAI;

  beforeAll(async () => {
    router = await started.router(['--kv-connector', flag]);
    const announced = ['--router', router.discovery, '--connector', sim, '--ping-interval-secs', '0.5'];
    engines = await Promise.all([
      started.engine(['--role', 'prefill', ...announced]),
      started.engine(['--role', 'prefill', ...announced]),
      started.engine(['--role', 'decode', ...announced]),
      started.engine(['--role', 'decode', ...announced]),
    ]);
    const alone = await started.engine(['--role', 'regular']);
    await router.admin.selectable({ prefill: 2, decode: 2 });
    client = new OpenAI({ baseURL: `${router.url}/v1`, apiKey: 'any', maxRetries: 0 });
    undivided = new OpenAI({ baseURL: `${alone.url}/v1`, apiKey: 'any', maxRetries: 0 });
  }, 30_000);

  afterAll(async () => await started.end());

  const messages = [
    { role: 'system' as const, content: 'You are brief. 北京🌍é' },
    { role: 'user' as const, content: 'Say something about rivers.' },
  ];

  it('chat, whole and streamed, says what an undivided engine says', async () => {
    const request = { model: 'sim-model', messages, max_completion_tokens: 24 };
    const expected = await undivided.chat.completions.create(request);
    const whole = await client.chat.completions.create(request);
    expect(whole.choices[0]!.message).toEqual(expected.choices[0]!.message);
    expect(whole.usage).toMatchObject({ prompt_tokens: expected.usage!.prompt_tokens, completion_tokens: expected.usage!.completion_tokens });

    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } })) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(expected.choices[0]!.message.content);
    expect(usage?.completion_tokens).toBe(expected.usage!.completion_tokens);
  });

  it('completion, whole and streamed, says what an undivided engine says', async () => {
    const request = { model: 'sim-model', prompt: 'Once upon a time in a yard of switches', max_tokens: 20, min_tokens: 5 } as OpenAI.CompletionCreateParamsNonStreaming;
    const expected = await undivided.completions.create(request);
    expect((await client.completions.create(request)).choices[0]!.text).toBe(expected.choices[0]!.text);
    let text = '';
    for await (const chunk of await client.completions.create({ ...request, stream: true })) text += chunk.choices[0]?.text ?? '';
    expect(text).toBe(expected.choices[0]!.text);
  });

  it('tools, chosen freely, required and by name', async () => {
    for (const tool_choice of ['required', { type: 'function', function: { name: 'weather' } }] as const) {
      const request = { model: 'sim-model', messages, tools: [weather], tool_choice };
      const expected = await undivided.chat.completions.create(request);
      const answer = await client.chat.completions.create(request);
      const [call] = answer.choices[0]!.message.tool_calls!;
      expect(call).toMatchObject({ type: 'function', function: { name: 'weather' } });
      expect((call as { function: { arguments: string } }).function.arguments).toBe((expected.choices[0]!.message.tool_calls![0] as { function: { arguments: string } }).function.arguments);
      let name = '';
      for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
        name += chunk.choices[0]?.delta.tool_calls?.[0]?.function?.name ?? '';
      }
      expect(name).toBe('weather');
    }
    expect((await client.chat.completions.create({ model: 'sim-model', messages, tools: [weather], tool_choice: 'auto' })).choices).toHaveLength(1);
  });

  it('n, errors of engines, models', async () => {
    const many = await client.chat.completions.create({ model: 'sim-model', messages, n: 3, max_completion_tokens: 6 });
    expect(many.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    await expect(client.chat.completions.create({ model: 'sim-model', messages, max_tokens: 4, stream_options: { include_usage: true } } as never)).rejects.toMatchObject({ status: 400 });
    await expect(client.chat.completions.create({ model: 'no-such-model', messages })).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['sim-model']);
    expect((await client.models.retrieve('sim-model')).id).toBe('sim-model');
  });

  it('leaves no violation, no load and only divided requests behind', async () => {
    await router.admin.quiet();
    for (const engine of engines) expect((await engine.state()).violations).toEqual([]);
    const workers = await router.admin.workers();
    expect(workers.filter(({ role }) => role === 'prefill').reduce((sum, { succeeded }) => sum + succeeded, 0)).toBeGreaterThan(8);
    expect(workers.filter(({ role }) => role === 'decode').reduce((sum, { succeeded }) => sum + succeeded, 0)).toBeGreaterThan(8);
  });
});
