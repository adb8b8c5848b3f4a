import { connect } from 'node:net';
import { unpack } from 'msgpackr';
import { Router } from 'zeromq';
import { parseOptions } from '../options.js';
import { EngineSim } from '../engine-sim.js';
import { type TestEngine, TestEngines } from '../testing/engines.fixture.js';

const engines = new TestEngines();
let router: Router;
let address: string;
beforeEach(async () => {
  router = new Router({ linger: 0, receiveTimeout: 5000 });
  await router.bind('tcp://127.0.0.1:0');
  address = (router.lastEndpoint ?? '').replace('tcp://', '');
});
afterEach(async () => {
  await engines.stop();
  router.close();
});

async function receive(): Promise<{ identity: string; frames: number; map: any }> {
  const frames = await router.receive();
  return { identity: frames[0]!.toString(), frames: frames.length, map: unpack(frames[1]!) };
}

describe('pings', () => {
  it('are the three keys of P2P NCCL under the KV address as identity, again and again', async () => {
    const engine = await engines.start('--role', 'prefill', '--connector', 'p2p-nccl', '--router', address, '--ping-interval-secs', '0.02');
    const expected = { identity: engine.zmq, frames: 2, map: { type: 'P', http_address: engine.url.replace('http://', ''), zmq_address: engine.zmq } };
    expect(await receive()).toEqual(expected);
    expect(await receive()).toEqual(expected);
  });

  it('carry the MoRI-IO keys, and labels only when asked for', async () => {
    const engine = await engines.start('--role', 'decode', '--connector', 'moriio', '--router', address, '--instance', 'i1', '--group', 'g', '--connector-label', 'moriio', '--started-at', '17.5');
    const { identity, map } = await receive();
    expect(identity).not.toBe(engine.zmq);
    expect(map).toEqual({
      type: 'D',
      http_address: engine.url.replace('http://', ''),
      zmq_address: engine.zmq,
      dp_size: 1,
      tp_size: 1,
      transfer_mode: 'READ',
      instance: 'i1',
      group: 'g',
      connector: 'moriio',
      started_at: 17.5,
    });
  });

  it('begin while HTTP still refuses connections', async () => {
    const options = parseOptions(['--port', '0', '--role', 'decode', '--router', address, '--boot-secs', '0.3']);
    if (options === 'help') throw new Error('asked for help');
    const engine = new EngineSim(options, () => undefined);
    const started = engine.start();
    const { map } = await receive();
    const port = Number(map.http_address.split(':')[1]);
    const refused = await new Promise((resolve) => connect(port, '127.0.0.1').on('error', (error: NodeJS.ErrnoException) => resolve(error.code)));
    expect(refused).toBe('ECONNREFUSED');
    expect((await started).http).toBe(map.http_address);
    await engine.stop();
  });

  it('stop and resume on command', async () => {
    const engine: TestEngine = await engines.start('--role', 'decode', '--router', address, '--ping-interval-secs', '0.02');
    await receive();
    await engine.fault({ kind: 'stop_ping' });
    const { sent } = (await engine.state()).pings;
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect((await engine.state()).pings).toEqual({ pinging: false, sent });
    await engine.fault({ kind: 'resume_ping' });
    expect((await engine.state()).pings).toMatchObject({ pinging: true, sent: sent + 1 });
  });
});
