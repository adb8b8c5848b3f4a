import { settled } from '../support/accounts.js';
import { eventually, pause } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { RawClient } from '../support/raw-client.js';
import { type RouterProcess } from '../support/router-process.js';
import { type CallHandler, completion, event, isPrefillLeg, ScriptedEngine } from '../support/scripted-engine.js';

type Response = Parameters<CallHandler>[1];

describe('12: load follows the leg that runs', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  /** Two engines that leave each call to the test. */
  async function setUp(connector: string, flags: readonly string[] = []): Promise<{ router: RouterProcess; prefills: Response[]; decodes: Response[] }> {
    const prefills: Response[] = [];
    const decodes: Response[] = [];
    const start = async (): Promise<ScriptedEngine> => started.add(await ScriptedEngine.start({ handle: (call, res) => void (isLegOfPrefill(call) ? prefills : decodes).push(res) }), (engine) => engine.stop());
    // P2P bodies do not tell the legs apart; the token limit does.
    const isLegOfPrefill = (call: Parameters<CallHandler>[0]): boolean => isPrefillLeg(call) || call.body.includes('"max_tokens":1,') || call.body.endsWith('"max_tokens":1}');
    const [p, d] = [await start(), await start()];
    const router = await started.router(['--prefill', p.url, '--decode', d.url, '--kv-connector', connector, ...flags]);
    await router.admin.selectable({ prefill: 1, decode: 1 });
    return { router, prefills, decodes };
  }

  async function books(router: RouterProcess): Promise<string> {
    const workers = await router.admin.workers();
    const shown = (role: string): string => {
      const { load, holds } = workers.find((worker) => worker.role === role)!;
      return `${role} ${String(load)}+${String(holds.kvOut)}+${String(holds.bound)}`;
    };
    return `${shown('prefill')}, ${shown('decode')}`;
  }

  /** Load and both kinds of hold; it stays so for a while. */
  async function stays(router: RouterProcess, expected: string): Promise<void> {
    await eventually(expected, async () => {
      const seen = await books(router);
      if (seen !== expected) throw new Error(seen);
      return true;
    });
    await pause(120);
    expect(await books(router)).toBe(expected);
  }

  it.each([
    ['nixl', 0],
    ['p2p-nccl', 1],
    ['auto', 1],
  ])('%s: 1/0 while prefill runs, 0/1 until the end of the body', async (connector, bound) => {
    const { router, prefills, decodes } = await setUp(connector);
    const client = await RawClient.post(router.api, '/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('prefill', () => prefills.length === 1);
    await stays(router, `prefill 1+0+0, decode 0+0+${String(bound)}`);
    const [prefill] = prefills;
    const body = JSON.stringify(completion('x'));
    prefill!.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length) }).flushHeaders();
    await stays(router, `prefill 1+0+0, decode 0+0+${String(bound)}`);
    prefill!.write(body.slice(0, 20));
    await stays(router, `prefill 1+0+0, decode 0+0+${String(bound)}`);
    prefill!.end(body.slice(20));

    await eventually('decode', () => decodes.length === 1);
    await stays(router, 'prefill 0+1+0, decode 1+0+0');
    const [decode] = decodes;
    decode!.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    await stays(router, 'prefill 0+1+0, decode 1+0+0');
    expect(client.received).toHaveLength(0);
    decode!.write(event('one'));
    await client.until('one');
    await stays(router, 'prefill 0+0+0, decode 1+0+0');
    decode!.write(`${event('two')}data: [DONE]\n\n`);
    await client.until('[DONE]');
    // The last event is not the end of the body.
    await stays(router, 'prefill 0+0+0, decode 1+0+0');
    decode!.end();
    await settled(router);
    const [worker] = (await router.admin.workers()).filter(({ role }) => role === 'decode');
    expect(worker).toMatchObject({ processed: 1, succeeded: 1 });
    client.leave('close');
  });

  it('a body of known length frees decode at its last byte', async () => {
    const { router, prefills, decodes } = await setUp('nixl');
    const client = await RawClient.post(router.api, '/v1/completions', { model: 'm', prompt: 'x' });
    await eventually('prefill', () => prefills.length === 1);
    prefills[0]!.end(JSON.stringify(completion('x')));
    await eventually('decode', () => decodes.length === 1);
    decodes[0]!.writeHead(200, { 'content-type': 'application/json', 'content-length': '10' });
    decodes[0]!.write('123456789');
    await stays(router, 'prefill 0+0+0, decode 1+0+0');
    decodes[0]!.end('0');
    await client.until('1234567890');
    await settled(router);
    client.leave('close');
  });

  it('decode stays loaded while the client does not read', async () => {
    const { router, prefills, decodes } = await setUp('nixl', ['--stream-idle-timeout-secs', '0.4']);
    const client = await RawClient.post(router.api, '/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('prefill', () => prefills.length === 1);
    prefills[0]!.end(JSON.stringify(completion('x')));
    await eventually('decode', () => decodes.length === 1);
    client.socket.pause();
    const [decode] = decodes;
    decode!.writeHead(200, { 'content-type': 'text/event-stream' });
    const all = event('x'.repeat(20_000_000));
    decode!.end(all);
    await eventually('the first byte', async () => (await books(router)) === 'prefill 0+0+0, decode 1+0+0');
    // Longer than the idle limit: a client that reads slowly is not the engine's fault.
    await pause(1_000);
    expect(await books(router)).toBe('prefill 0+0+0, decode 1+0+0');
    client.socket.resume();
    await eventually('all of it', () => client.received.length > all.length);
    await settled(router);
    client.leave('close');
  });
});
