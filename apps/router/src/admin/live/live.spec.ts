import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

import { jest } from '@jest/globals';
import { type EventView, type LiveChange, type LiveDelta, type LiveSnapshot, type WorkerView } from '@switchyard/core/contracts';
import { io, type Socket } from 'socket.io-client';

import { eventually } from '../testing/eventually.js';
import { AdminHarness, operatorToken, viewerToken } from '../testing/admin-harness.js';
import { type LiveLimits, liveLimits } from './live-limits.js';

interface Options {
  readonly token?: string;
  readonly headers?: Record<string, string>;
  readonly transports?: string[];
}

/** A viewer as the dashboard is one: keeps a picture by what it is sent. */
class Viewer {
  readonly socket: Socket;
  readonly deltas: LiveDelta[] = [];
  readonly events: EventView[] = [];
  gaps = 0;
  refusal: string | null = null;
  ended = false;
  snapshot: LiveSnapshot | null = null;

  constructor(origin: string, { token, headers, transports = ['websocket'] }: Options) {
    this.socket = io(origin, {
      path: '/live',
      transports,
      reconnection: false,
      forceNew: true,
      ...(token === undefined ? {} : { auth: { token } }),
      ...(headers === undefined ? {} : { extraHeaders: headers }),
    });
    this.socket.on('snapshot', (snapshot: LiveSnapshot) => (this.snapshot = snapshot));
    this.socket.on('event', (event: EventView) => this.events.push(event));
    this.socket.on('connect_error', (error) => (this.refusal = error.message));
    this.socket.on('disconnect', () => (this.ended = true));
    this.socket.on('delta', (delta: LiveDelta) => {
      this.deltas.push(delta);
      if (delta.from === this.snapshot?.seq) this.snapshot = applied(this.snapshot, delta);
      else this.gaps += 1;
    });
  }

  worker(id: string): WorkerView | undefined {
    return this.snapshot?.state.workers.find((worker) => worker.id === id);
  }
}

/** What is below a viewer's socket, which alone can stop reading. */
function webSocketOf({ socket }: Viewer): { pause(): void; resume(): void } {
  return (socket.io.engine.transport as unknown as { ws: { pause(): void; resume(): void } }).ws;
}

function applied({ state }: LiveSnapshot, { seq, changes }: LiveDelta): LiveSnapshot {
  const workers = new Map(state.workers.map((worker) => [worker.id, worker]));
  const next = { ...state };
  const apply = (change: LiveChange): void => {
    switch (change.op) {
      case 'set':
        workers.set(change.worker.id, change.worker);
        break;
      case 'del':
        workers.delete(change.id);
        break;
      case 'pools':
        next.pools = change.pools;
        break;
      case 'overview':
        next.overview = change.overview;
        break;
      case 'handoffs':
        next.handoffs = change.handoffs;
        break;
    }
  };
  changes.forEach(apply);
  return { seq, state: { ...next, workers: [...workers.values()] } };
}

describe('the live stream', () => {
  let admin: AdminHarness;
  const viewers: Viewer[] = [];
  const begin = async (limits: Partial<LiveLimits> = {}): Promise<void> => {
    admin = await AdminHarness.start({
      // Round robin: with as many requests as workers all workers change.
      flags: ['--admin-token', operatorToken, '--viewer-token', viewerToken, '--policy', 'round_robin'],
      live: { ...liveLimits, ...limits },
    });
  };
  const follow = async (options: Options = { token: viewerToken }): Promise<Viewer> => {
    const viewer = open(options);
    await eventually(() => expect(viewer.snapshot).not.toBeNull());
    return viewer;
  };
  const open = (options: Options): Viewer => {
    const viewer = new Viewer(admin.origin, options);
    viewers.push(viewer);
    return viewer;
  };
  afterEach(async () => {
    for (const { socket } of viewers.splice(0)) socket.disconnect();
    await admin.close();
  });

  /** What comes of an upgrade, byte for byte. */
  const upgrade = (path: string, headers: Record<string, string> = {}): Promise<{ readonly text: string; readonly closed: boolean }> => {
    const { hostname, port, host } = new URL(admin.origin);
    const lines = { Host: host, Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': randomBytes(16).toString('base64'), ...headers };
    return new Promise((resolve, reject) => {
      let text = '';
      const socket = connect(Number(port), hostname, () => {
        socket.write(`GET ${path} HTTP/1.1\r\n${Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
      });
      const done = (closed: boolean): void => {
        socket.destroy();
        resolve({ text, closed });
      };
      const patience = setTimeout(() => done(false), 1_500);
      socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      socket.on('close', () => {
        clearTimeout(patience);
        done(true);
      });
      socket.on('error', reject);
    });
  };
  const session = async (token: string): Promise<string> => {
    const { headers } = await admin.call('POST', '/api/v1/session', { token }, {});
    return headers.get('set-cookie')!.split(';')[0]!;
  };
  const live = '/live/?EIO=4&transport=websocket';

  describe('lets in', () => {
    beforeEach(() => begin());

    it.each([
      ['an operator by token', { token: operatorToken }],
      ['a viewer by token', { token: viewerToken }],
      ['a token in the Authorization header', { headers: { authorization: `Bearer ${viewerToken}` } }],
    ])('%s', async (_, options) => {
      const viewer = await follow(options);
      expect(viewer.snapshot!.state).toMatchObject({ workers: [], pools: { decode: { total: 0 } }, handoffs: [] });
    });

    it('a session, from its own origin, until it is closed', async () => {
      const cookie = await session(viewerToken);
      const viewer = await follow({ headers: { cookie, origin: admin.origin } });
      expect(viewer.ended).toBe(false);
      await admin.call('DELETE', '/api/v1/session', undefined, { cookie });
      await eventually(() => expect(viewer.ended).toBe(true));
    });
  });

  it('ends with the session, and does not begin with one that has expired', async () => {
    await begin();
    const cookie = await session(operatorToken);
    const viewer = await follow({ headers: { cookie } });
    const other = await follow();
    const later = Date.now() + 12 * 3_600_000 + 1_000;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => later);
    try {
      await eventually(() => expect(viewer.ended).toBe(true));
      expect((await upgrade(live, { Cookie: cookie })).text).toMatch(/^HTTP\/1.1 401 /);
      expect(other.ended).toBe(false);
    } finally {
      clock.mockRestore();
    }
  });

  describe('refuses', () => {
    beforeEach(() => begin({ tokenWithinMs: 300, mostSocketsPerAddress: 3 }));

    it.each([
      ['a wrong token in a header', { Authorization: 'Bearer nobody' }, 401],
      ['two headers', { Authorization: `Bearer ${viewerToken}\r\nAuthorization: Bearer x` }, 401],
      ['a session that never was', { Cookie: 'switchyard_session=abc' }, 401],
      ['another origin, whatever its token', { Authorization: `Bearer ${operatorToken}`, Origin: 'http://evil.example' }, 403],
      ['another port of this host', { Authorization: `Bearer ${operatorToken}`, Origin: 'http://127.0.0.1:1' }, 403],
      ['an opaque origin', { Authorization: `Bearer ${operatorToken}`, Origin: 'null' }, 403],
    ])('%s before it is a WebSocket', async (_, headers, status) => {
      const { text, closed } = await upgrade(live, headers);
      expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(text).not.toContain('101 ');
      expect(JSON.parse(text.split('\r\n\r\n')[1]!)).toMatchObject({ error: { message: expect.any(String) } });
      expect(closed).toBe(true);
    });

    it('a session that was closed', async () => {
      const cookie = await session(operatorToken);
      await admin.call('DELETE', '/api/v1/session', undefined, { cookie });
      expect((await upgrade(live, { Cookie: cookie })).text).toMatch(/^HTTP\/1.1 401 /);
    });

    it.each([[undefined], ['nobody'], ['']])('a first message with token %p, and closes at once', async (token) => {
      const viewer = open(token === undefined ? {} : { token });
      await eventually(() => expect(viewer.refusal).toBe('unauthorized'));
      await eventually(() => expect(viewer.socket.io.engine.readyState).toBe('closed'));
      expect(viewer.snapshot).toBeNull();
    });

    it('a connection that presents nothing in time', async () => {
      const { text, closed } = await upgrade(live);
      expect(text).toMatch(/^HTTP\/1.1 101 /);
      expect(text).not.toContain('workers');
      expect(closed).toBe(true);
    });

    it('polling', async () => {
      const viewer = open({ token: operatorToken, transports: ['polling'] });
      await eventually(() => expect(viewer.refusal).not.toBeNull());
      expect(viewer.snapshot).toBeNull();
      const authorization = `Bearer ${operatorToken}`;
      expect((await admin.call('GET', '/live/?EIO=4&transport=polling', undefined, { authorization })).status).toBe(400);
      expect((await admin.call('POST', '/live/?EIO=4&transport=polling', {}, { authorization })).status).toBe(400);
      expect((await admin.call('GET', '/live/?EIO=4&transport=polling', undefined, { authorization: 'Bearer nobody' })).status).toBe(401);
    });

    it('to join the connection of somebody else', async () => {
      const viewer = await follow();
      const { text } = await upgrade(`${live}&sid=${viewer.socket.io.engine.id}`, { Authorization: `Bearer ${viewerToken}` });
      expect(text).toMatch(/^HTTP\/1.1 400 /);
      expect(viewer.ended).toBe(false);
    });

    it('more sockets from one address than it may have', async () => {
      for (let at = 0; at < 3; at += 1) await follow();
      expect((await upgrade(live, { Authorization: `Bearer ${viewerToken}` })).text).toMatch(/^HTTP\/1.1 429 /);
      viewers[0]!.socket.disconnect();
      await eventually(async () => expect((await upgrade(live, { Authorization: `Bearer ${viewerToken}` })).text).toMatch(/^HTTP\/1.1 101 /));
    });
  });

  describe('tells', () => {
    beforeEach(() => begin());

    it('what an operator did at once, to everybody', async () => {
      const id = admin.register('decode', 'http://10.0.0.2:8000');
      const [one, other] = [await follow(), await follow({ token: operatorToken })];
      const begunMs = performance.now();
      await admin.call('POST', `/api/v1/workers/${id}/drain`, { force: true, reason: 'kernel' });
      await eventually(() => {
        for (const viewer of [one, other]) expect(viewer.worker(id)).toMatchObject({ adminState: 'drained', drain: { reason: 'kernel' } });
      });
      expect(performance.now() - begunMs).toBeLessThan(500);
      await eventually(() => {
        for (const viewer of [one, other]) expect(viewer.events).toContainEqual(expect.objectContaining({ type: 'drain', actor: 'operator', worker: id }));
      });
      expect([one.gaps, other.gaps]).toEqual([0, 0]);
    });

    it('of workers that go', async () => {
      const id = admin.register('decode', 'http://10.0.0.2:8000');
      const viewer = await follow();
      expect(viewer.worker(id)).toBeDefined();
      admin.cluster.withdraw('decode', 'http://10.0.0.2:8000', 'static');
      await eventually(() => expect(viewer.worker(id)).toBeUndefined());
      expect(viewer.deltas.flatMap(({ changes }) => changes)).toContainEqual({ op: 'del', id });
      expect(viewer.snapshot!.state.pools.decode.total).toBe(0);
      await eventually(() => expect(viewer.events).toContainEqual(expect.objectContaining({ type: 'departed', worker: id })));
    });

    it('at most four times a second what is no action, and once when nothing happens', async () => {
      admin.register('regular', 'http://10.0.0.3:8000');
      const viewer = await follow();
      const seen = viewer.deltas.length;
      const untilMs = performance.now() + 1_500;
      for (let key = 1; performance.now() < untilMs; key += 1) {
        admin.finish(key, admin.begin(key, 'single'));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const busy = viewer.deltas.length - seen;
      expect(busy).toBeGreaterThanOrEqual(3);
      expect(busy).toBeLessThanOrEqual(8);
      await eventually(() => expect(viewer.deltas.at(-1)!.changes.map(({ op }) => op)).toEqual(['overview']));
      expect(viewer.gaps).toBe(0);
    });

    it('the whole picture when asked for it', async () => {
      const id = admin.register('decode', 'http://10.0.0.2:8000');
      const viewer = await follow();
      viewer.snapshot = null;
      const snapshot: LiveSnapshot = await viewer.socket.timeout(2_000).emitWithAck('resync');
      expect(snapshot.state.workers.map((worker) => worker.id)).toEqual([id]);
      viewer.snapshot = snapshot;
      const gaps = viewer.gaps;
      await admin.call('POST', `/api/v1/workers/${id}/drain`, { force: true });
      await eventually(() => expect(viewer.worker(id)?.adminState).toBe('drained'));
      expect(viewer.gaps).toBe(gaps);
    });

    it('nothing to a viewer that asks for more pictures than it takes', async () => {
      const viewer = await follow();
      for (let at = 0; at < 10; at += 1) viewer.socket.emit('resync', () => undefined);
      await eventually(() => expect(viewer.ended).toBe(true));
    });
  });

  describe('with a viewer that does not read', () => {
    let key = 1;
    const registerMany = (): string[] => {
      const models = Array.from({ length: 100 }, (_, at) => `a-model-with-a-rather-long-name-${at}`);
      return Array.from({ length: 100 }, (_, at) => admin.register('regular', `http://10.0.1.${at}:8000`, { models: ['m', ...models] }));
    };
    /** Changes what is seen of every worker. */
    const touchAll = (): void => {
      for (let at = 0; at < 100; at += 1, key += 1) admin.finish(key, admin.begin(key, 'single'));
    };

    it('holds no more than a message for it, merges what it misses, then drops it', async () => {
      await begin({ intervalMs: 20, stalledAfterMs: 1_500 });
      registerMany();
      const healthy = await follow();
      const stalled = await follow();
      // The socket below stops reading: the system's buffers fill, then those of the router would.
      const raw = webSocketOf(stalled);
      raw.pause();
      let mostBytes = 0;
      await eventually(() => {
        touchAll();
        for (const { writableLength } of admin.liveSockets()) mostBytes = Math.max(mostBytes, writableLength);
        expect(admin.liveSockets()).toHaveLength(1);
      }, 20_000);
      const messageBytes = JSON.stringify(healthy.snapshot).length;
      expect(messageBytes).toBeGreaterThan(300_000);
      expect(mostBytes).toBeGreaterThan(0);
      expect(mostBytes).toBeLessThan(2 * messageBytes);
      expect(healthy.gaps).toBe(0);
      expect(healthy.ended).toBe(false);
      expect(admin.logLines.join('')).toContain('took nothing for too long');
      raw.resume();
      await eventually(() => expect(stalled.ended).toBe(true));
    }, 30_000);

    it('brings one that reads again up to date without a gap', async () => {
      await begin({ intervalMs: 20, stalledAfterMs: 60_000 });
      const ids = registerMany();
      const slow = await follow();
      const raw = webSocketOf(slow);
      raw.pause();
      await eventually(() => {
        touchAll();
        expect(Math.max(...admin.liveSockets().map(({ writableLength }) => writableLength))).toBeGreaterThan(0);
      }, 20_000);
      admin.cluster.withdraw('regular', 'http://10.0.1.7:8000', 'static');
      const after = admin.register('regular', 'http://10.0.2.1:8000');
      touchAll();
      raw.resume();
      await eventually(() => {
        expect(slow.worker(after)).toBeDefined();
        expect(slow.worker(ids[7]!)).toBeUndefined();
      }, 10_000);
      const fresh = await follow();
      await eventually(() => expect(slow.snapshot!.seq).toBeGreaterThanOrEqual(fresh.snapshot!.seq));
      expect(slow.gaps).toBe(0);
      const processed = (viewer: Viewer): unknown => Object.fromEntries(viewer.snapshot!.state.workers.map(({ id, processed: count }) => [id, count]));
      expect(processed(slow)).toEqual(processed(fresh));
    }, 30_000);
  });

  it('does nothing while nobody watches, and stops with the router', async () => {
    await begin();
    const viewer = await follow();
    viewer.socket.disconnect();
    await eventually(() => expect(admin.liveSockets()).toHaveLength(0));
    const { seq } = admin.cluster;
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    expect(admin.cluster.seq).toBe(seq);
    const last = await follow();
    await admin.close();
    await eventually(() => expect(last.ended).toBe(true));
    await begin();
  });
});
