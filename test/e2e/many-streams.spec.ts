import { createHash, randomUUID } from 'node:crypto';
import { Agent } from 'node:http';

import { settled } from '../support/accounts.js';
import { type EngineProcess } from '../support/engine-process.js';
import { eventually, pause } from '../support/eventually.js';
import { exchange } from '../support/exchange.js';
import { Started } from '../support/fleet.js';
import { inspectable, usedHeapBytes } from '../support/heap-probe.js';
import { type RouterProcess } from '../support/router-process.js';

const long = process.env['SWITCHYARD_TEST_LONG'] === '1';
const streams = long ? 1_000 : 300;
const chunks = 50;

/** What the router may keep of a thousand streams that are over: its bounded lists of recent requests, no more. */
const growthBytes = 4 * 1024 * 1024;

describe('20: many streams at once', () => {
  const started = new Started();
  afterAll(async () => await started.end());
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  afterAll(() => agent.destroy());

  it(
    `${String(streams)} streams of ${String(chunks)} chunks are complete and byte-exact, and memory returns to its level`,
    async () => {
      const flags = ['--connector', 'nixl', '--output-tokens', String(chunks), '--decode-ms-per-token', long ? '150' : '60', '--record-limit', '20000', '--record-body-bytes', '0'];
      const prefill = await Promise.all([0, 1].map(() => started.engine(['--role', 'prefill', ...flags])));
      const decode = await Promise.all([0, 1].map(() => started.engine(['--role', 'decode', ...flags])));
      const router = await started.router(['--prefill', ...prefill.map(({ url }) => url), '--decode', ...decode.map(({ url }) => url), '--kv-connector', 'nixl', '--log-level', 'warn'], { env: inspectable });
      await router.admin.selectable({ prefill: 2, decode: 2 });

      // The first round brings code, pools and buffers to their size.
      await round(router, decode);
      await settled(router);
      const levels: number[] = [];
      for (let count = 0; count < (long ? 4 : 2); count += 1) {
        const peak = await round(router, decode);
        expect(peak).toBeGreaterThan(streams * 0.9);
        await settled(router);
        levels.push(await usedHeapBytes(router.child));
      }
      expect(levels.at(-1)! - levels[0]!).toBeLessThan(growthBytes);
      for (const engine of [...prefill, ...decode]) expect((await engine.state()).violationCount).toBe(0);
    },
    long ? 180_000 : 60_000,
  );

  /** Runs all streams at once and compares each with what its engine says it sent; returns the largest load seen. */
  async function round(router: RouterProcess, decode: readonly EngineProcess[]): Promise<number> {
    let peak = 0;
    let running = true;
    const watching = (async () => {
      while (running) {
        const workers = await router.admin.workers();
        peak = Math.max(peak, workers.reduce((sum, { load }) => sum + load, 0));
        await pause(100);
      }
    })();
    const answers = await Promise.all(
      Array.from({ length: streams }, async (_, index) => {
        const id = randomUUID();
        const body = { model: 'sim-model', prompt: `${id} ${'word '.repeat(index % 400)}`, stream: true, max_tokens: chunks };
        const got = await exchange(router.api, '/v1/completions', body, { agent, headers: { 'x-request-id': id } });
        return { id, status: got.status, complete: got.complete, sha256: createHash('sha256').update(got.body).digest('hex'), events: got.text.split('\n\n').length - 1 };
      }),
    );
    running = false;
    await watching;
    const sent = new Map<string, string>();
    for (const engine of decode) {
      const records: any[] = (await (await fetch(`${engine.url}/__sim/requests?limit=20000&phase=decode`)).json() as { requests: any[] }).requests;
      for (const { requestId, responseSha256 } of records) sent.set((requestId as string).slice(0, 36), responseSha256 as string);
    }
    const wrong = answers.filter(({ id, status, complete, sha256, events }) => status !== 200 || !complete || events !== chunks + 1 || sent.get(id) !== sha256);
    expect(wrong.slice(0, 3)).toEqual([]);
    return peak;
  }

  it('streams of clients that read at different speeds do not hold each other up', async () => {
    const engine = await started.engine(['--role', 'regular', '--output-tokens', '2000', '--decode-ms-per-token', '0', '--tokens-per-chunk', '10']);
    const router = await started.router(['--worker-url', engine.url]);
    await router.admin.selectable({ regular: 1 });
    const ask = async (): Promise<number> => {
      const { elapsedMs, complete } = await exchange(router.api, '/v1/completions', { model: 'sim-model', prompt: 'x', stream: true });
      expect(complete).toBe(true);
      return elapsedMs;
    };
    const slow = await fetch(`${router.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim-model', prompt: 'slow', stream: true, max_tokens: 200_000 }),
    });
    const reader = slow.body!.getReader();
    await reader.read();
    await pause(500);
    for (let count = 0; count < 5; count += 1) expect(await ask()).toBeLessThan(3_000);
    await reader.cancel();
    await eventually('the slow one ended', async () => (await router.admin.workers())[0]!.load === 0);
    await settled(router);
  });
});
