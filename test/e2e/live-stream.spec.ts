import { join } from 'node:path';

import { type EventView, type LiveDelta, type LiveSnapshot, type WorkerView } from '@switchyard/core/contracts';
import { io, type Socket } from 'socket.io-client';

import { eventually, pause } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { Pinger } from '../support/pinger.js';
import { operatorToken, type RouterProcess, viewerToken, withTemporaryDirectory } from '../support/router-process.js';
import { ScriptedEngine } from '../support/scripted-engine.js';

/** Follows the workers of a router, as an outsider reads the contract. */
class Follower {
  readonly workers = new Map<string, WorkerView>();
  readonly events: EventView[] = [];
  readonly socket: Socket;
  gaps = 0;
  seq: number | null = null;

  constructor(origin: string, options: Parameters<typeof io>[1]) {
    this.socket = io(origin, { path: '/live', transports: ['websocket'], forceNew: true, reconnectionDelay: 100, reconnectionDelayMax: 300, ...options });
    this.socket.on('snapshot', ({ seq, state }: LiveSnapshot) => {
      this.seq = seq;
      this.workers.clear();
      for (const worker of state.workers) this.workers.set(worker.id, worker);
    });
    this.socket.on('delta', ({ from, seq, changes }: LiveDelta) => {
      if (from !== this.seq) this.gaps += 1;
      this.seq = seq;
      for (const change of changes) {
        if (change.op === 'set') this.workers.set(change.worker.id, change.worker);
        else if (change.op === 'del') this.workers.delete(change.id);
      }
    });
    this.socket.on('event', (event: EventView) => this.events.push(event));
  }

  only(): WorkerView {
    const [worker] = [...this.workers.values()];
    if (worker === undefined) throw new Error('no worker yet');
    return worker;
  }
}

describe('the live stream of a built router', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  const follow = (router: RouterProcess, options: Parameters<typeof io>[1] = { auth: { token: viewerToken } }): Follower =>
    started.add(new Follower(`http://${router.adminAddress}`, options), ({ socket }) => void socket.disconnect());

  it('tells of a late heartbeat within a second, and of a drain to everybody within half of one', async () => {
    const engine = started.add(await ScriptedEngine.start(), (it) => it.stop());
    const router = await started.router(['--no-health-gate']);
    const pinger = started.add(new Pinger(router.discovery), (it) => it.close());
    await pinger.keepPinging({ type: 'D', http_address: engine.url.replace('http://', ''), zmq_address: '127.0.0.1:7001' }, 500);
    const viewers = [follow(router), follow(router, { auth: { token: operatorToken } })];
    await eventually('everybody sees the worker', () => viewers.every(({ workers }) => workers.size === 1));
    await pause(3_000);
    expect(viewers[0]!.only().heartbeat).toBe('ok');

    pinger.silence();
    const silentMs = performance.now();
    await eventually('the heartbeat is late', () => viewers.every((viewer) => viewer.only().heartbeat === 'late'), 5_000, 10);
    // Late is 1.5 × 500 ms after the last ping.
    expect(performance.now() - silentMs).toBeLessThan(750 + 1_000);
    await eventually('an event says so', () => viewers[0]!.events.some(({ type }) => type === 'late'));

    await pinger.keepPinging({ type: 'D', http_address: engine.url.replace('http://', ''), zmq_address: '127.0.0.1:7001' }, 500);
    const { id } = viewers[0]!.only();
    const drainedMs = performance.now();
    await router.admin.call('POST', `/api/v1/workers/${id}/drain`, { force: true });
    await eventually('everybody sees the drain', () => viewers.every((viewer) => viewer.only().adminState !== 'ready'), 5_000, 5);
    expect(performance.now() - drainedMs).toBeLessThan(500);
    expect(viewers.map(({ gaps }) => gaps)).toEqual([0, 0]);
  });

  it('goes on by itself after the router was killed, with the session it had', async () => {
    await withTemporaryDirectory(async (path) => {
      const dataDir = join(path, 'data');
      const first = await started.router(['--worker-url', 'http://127.0.0.1:1', '--no-health-gate'], { dataDir });
      const login = await fetch(`http://${first.adminAddress}/api/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: viewerToken }),
      });
      const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
      const viewer = follow(first, { extraHeaders: { cookie } });
      await eventually('the worker is seen', () => viewer.workers.size === 1);
      const before = viewer.only().generation;
      first.child.signal('SIGKILL');
      await first.child.end();
      await eventually('the viewer has noticed', () => !viewer.socket.connected);

      await started.router(['--worker-url', 'http://127.0.0.1:1', '--no-health-gate', '--admin-port', first.adminAddress.split(':')[1]!], { dataDir });
      await eventually('the new generation is seen', () => viewer.socket.connected && viewer.only().generation > before);
      expect(viewer.gaps).toBe(0);
    });
  });

  it('shows what the engine itself says it runs, and does not call it safe to stop meanwhile', async () => {
    const engine = started.add(await ScriptedEngine.start(), (it) => it.stop());
    const works = (running: number): string => `vllm:num_requests_running{engine="0"} ${String(running)}\nvllm:num_requests_waiting{engine="0"} 0\nvllm:kv_cache_usage_perc{engine="0"} 0.25\n`;
    engine.gauges = works(3);
    const router = await started.router(['--worker-url', engine.url]);
    const viewer = follow(router);
    await eventually('the load is seen', () => viewer.only().engine?.running === 3);
    expect(viewer.only().engine).toMatchObject({ running: 3, waiting: 0, kvUsage: 0.25 });
    await router.admin.call('POST', `/api/v1/workers/${viewer.only().id}/drain`, { force: true });
    await eventually('it is drained', () => viewer.only().adminState === 'drained');
    expect(viewer.only().safeToStop).toBe(false);
    engine.gauges = works(0);
    await eventually('it is safe to stop', () => viewer.only().safeToStop);
  });
});
