import { randomUUID } from 'node:crypto';

import { settled } from '../support/accounts.js';
import { pause } from '../support/eventually.js';
import { exchange } from '../support/exchange.js';
import { Started } from '../support/fleet.js';
import { Pinger } from '../support/pinger.js';
import { leavings, RawClient } from '../support/raw-client.js';
import { answerJson, completion, event, isPrefillLeg, ScriptedEngine, startEvents } from '../support/scripted-engine.js';

const long = process.env['SWITCHYARD_TEST_LONG'] === '1';
const forMs = long ? 60_000 : 8_000;
const seed = 20_261;

/** mulberry32: the same decisions in every run, as far as timing lets them meet the same requests. */
function randomness(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe.each(['nixl', 'auto'])('leases when everything goes wrong at once, %s', (connector) => {
  const started = new Started();
  const pingers: Pinger[] = [];
  afterEach(async () => {
    for (const pinger of pingers.splice(0)) pinger.close();
    await started.end();
  });

  const random = randomness(seed);
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

  it(
    'none is lost, none is doubled, no hand-off is used twice, and the router says nothing of its own failures',
    async () => {
      const router = await started.router([
        ...['--registration-ttl-secs', '1', '--kv-connector', connector, '--first-byte-timeout-secs', '0.2', '--stream-idle-timeout-secs', '0.2', '--handoff-max-age-secs', '0.3'],
        ...['--gate-wait-secs', '0.3', '--upstream-keepalive-secs', '0.2', '--log-level', 'warn'],
      ]);
      let calm = false;
      const handed: string[] = [];
      const used: string[] = [];
      const handle: ScriptedEngine['handle'] = async (call, res, socket) => {
        const prefill = isPrefillLeg(call);
        const nonce = /"nonce":"([^"]+)"/.exec(call.body)?.[1];
        if (nonce !== undefined) used.push(nonce);
        const answer = (): void => {
          if (prefill) {
            const made = randomUUID();
            handed.push(made);
            answerJson(res, completion('x', { kv_transfer_params: { do_remote_prefill: true, remote_engine_id: call.headers.host, nonce: made } }));
          } else if (call.body.includes('"stream":true')) {
            startEvents(res);
            res.write(event('one'));
            setTimeout(() => res.end(`${event('two')}data: [DONE]\n\n`), random() * 50);
          } else answerJson(res, completion('fine'));
        };
        if (calm) {
          answer();
          return;
        }
        await pause(random() * 60);
        const fate = random();
        if (fate < 0.55) answer();
        else if (fate < 0.6) socket.resetAndDestroy();
        else if (fate < 0.65) answerJson(res, { error: { message: 'no' } }, oneOf([400, 429, 500, 503]));
        else if (fate < 0.7) startEvents(res);
        else if (fate < 0.75) {
          startEvents(res);
          res.write(event('one'));
          setTimeout(() => socket.resetAndDestroy(), random() * 30);
        } else if (fate < 0.8) socket.end();
        else if (fate < 0.85) answerJson(res, '{"half');
        else if (fate < 0.9) {
          startEvents(res);
          res.write('data: {"error":{"message":"no"}}\n\n');
          res.end();
        } else if (fate < 0.95) {
          startEvents(res);
          res.write(event('one'));
        }
        // Else it never answers.
      };
      const fleet = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          const engine = started.add(await ScriptedEngine.start({ handle }), (it) => it.stop());
          const pinger = new Pinger(router.discovery);
          pingers.push(pinger);
          const role = index < 3 ? ('P' as const) : ('D' as const);
          return { engine, pinger, role, zmq: `127.0.0.1:${String(27_000 + index)}`, instance: 0 };
        }),
      );
      const announce = async ({ engine, pinger, role, zmq, instance }: (typeof fleet)[number]): Promise<void> =>
        await pinger.keepPinging({ type: role, http_address: engine.address, zmq_address: zmq, instance: String(instance) }, 200);
      for (const member of fleet) await announce(member);
      await router.admin.selectable({ prefill: 3, decode: 3 });

      const until = performance.now() + forMs;
      const statuses = new Map<number, number>();
      const client = async (): Promise<void> => {
        while (performance.now() < until) {
          const body = { model: 'm', prompt: `${'shared prefix '.repeat(10)}${String(random())}`, ...(random() < 0.6 ? { stream: true } : {}) };
          if (random() < 0.4) {
            const leaving = await RawClient.post(router.api, '/v1/completions', body, random() < 0.1 ? { sent: 10 } : {});
            await pause(random() * 150);
            leaving.leave(oneOf(leavings));
            await pause(random() * 10);
            leaving.leave('close');
            continue;
          }
          const { status, text, complete } = await exchange(router.api, '/v1/completions', body);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          expect(text).not.toContain('internal_error');
          if (body.stream !== true && status === 200 && complete) expect(text).toMatch(/fine|half|one|error/);
        }
      };
      const registry = async (): Promise<void> => {
        while (performance.now() < until) {
          await pause(80);
          const member = oneOf(fleet);
          const deed = random();
          if (deed < 0.4) {
            member.instance += 1;
            await announce(member);
            continue;
          }
          const worker = await router.admin.worker(member.role === 'P' ? 'prefill' : 'decode', member.engine.address);
          if (worker === undefined) continue;
          const path = `/api/v1/workers/${worker.id}`;
          if (deed < 0.7) await router.admin.call('POST', `${path}/evict`, { reason: 'chaos', quarantineSecs: 0, abortInflight: random() < 0.5, force: true });
          else if (deed < 0.85) {
            await router.admin.call('POST', `${path}/drain`, { force: true });
            await pause(50);
            await router.admin.call('POST', `${path}/undrain`);
          } else {
            member.pinger.silence();
            await pause(1_300);
            await announce(member);
          }
        }
      };
      const books = async (): Promise<void> => {
        while (performance.now() < until) {
          for (const { id, load, pressure, holds, processed, succeeded, failed, cancelled } of await router.admin.workers()) {
            expect({ id, processed, pressure }).toEqual({ id, processed: succeeded + failed + cancelled + load, pressure: load + holds.bound });
          }
          await pause(100);
        }
      };
      await Promise.all([...Array.from({ length: 24 }, client), registry(), books()]);

      calm = true;
      await settled(router, 10_000);
      expect(new Set(used).size).toBe(used.length);
      expect(used.every((nonce) => handed.includes(nonce))).toBe(true);
      // It was no idle run.
      expect(statuses.get(200) ?? 0).toBeGreaterThan(50);
      expect([...statuses.keys()].every((status) => [200, 400, 429, 500, 502, 503, 504].includes(status))).toBe(true);
      for (const member of fleet) await announce(member);
      await router.admin.selectable({ prefill: 3, decode: 3 });
      expect((await exchange(router.api, '/v1/completions', { model: 'm', prompt: 'afterwards' })).status).toBe(200);
      await settled(router);
    },
    forMs + 30_000,
  );
});
