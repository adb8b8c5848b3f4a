import { TestEngines } from '../testing/engines.fixture.js';

const engines = new TestEngines();
afterEach(() => engines.stop());

const cachedOf = (text: string): number => JSON.parse(text).usage.prompt_tokens_details.cached_tokens;

describe('the prefix cache of an engine', () => {
  it('spares whole blocks of a shared prefix and the time to compute them', async () => {
    const engine = await engines.start('--prefill-us-per-token', '1000');
    const prefix = 'p'.repeat(64 * 10);
    const run = async (prompt: string): Promise<{ cached: number; ms: number }> => {
      const startMs = performance.now();
      const reply = await engine.post('/v1/completions', { prompt, max_tokens: 1 });
      return { cached: cachedOf(reply.text), ms: performance.now() - startMs };
    };
    const cold = await run(`${prefix}one`);
    const warm = await run(`${prefix}two`);
    expect(cold.cached).toBe(0);
    expect(cold.ms).toBeGreaterThan(155);
    expect(warm.cached).toBe(160);
    expect(warm.ms).toBeLessThan(cold.ms - 50);
    // The last token is always computed, so a prompt of exactly ten blocks uses nine.
    expect((await run(prefix)).cached).toBe(144);
    await engine.post('/__sim/reset-cache', {});
    expect((await run(prefix)).cached).toBe(0);
  });

  it('forgets what was unused for longest, the end of a prompt before its beginning', async () => {
    const engine = await engines.start('--kv-blocks', '4');
    const run = async (letter: string): Promise<number> => cachedOf((await engine.post('/v1/completions', { prompt: letter.repeat(64 * 2 + 1), max_tokens: 1 })).text);
    expect([await run('a'), await run('b'), await run('a'), await run('c'), await run('a'), await run('b')]).toEqual([0, 0, 32, 0, 32, 0]);
    expect((await engine.state()).cache).toMatchObject({ blocks: 4, capacity: 4 });
  });
});
