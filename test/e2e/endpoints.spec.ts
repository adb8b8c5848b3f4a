import { createServer } from 'node:net';
import { hostname } from 'node:os';

import { eventually, pause } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { Pinger } from '../support/pinger.js';
import { readSamples, sumOf } from '../support/prometheus-text.js';
import { type RouterProcess } from '../support/router-process.js';
import { ScriptedEngine } from '../support/scripted-engine.js';

const ipv6IsThere = await new Promise<boolean>((resolve) => {
  const server = createServer()
    .once('error', () => resolve(false))
    .listen(0, '::1', () => server.close(() => resolve(true)));
});
const whenIpv6 = ipv6IsThere ? it : it.skip;
if (!ipv6IsThere) console.warn('skipped: this machine has no IPv6 loopback');

describe('where engines may be and how they are named', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  async function scripted(options: Parameters<typeof ScriptedEngine.start>[0] = {}): Promise<ScriptedEngine> {
    return started.add(await ScriptedEngine.start(options), (engine) => engine.stop());
  }

  function pinger(router: RouterProcess): Pinger {
    return started.add(new Pinger(router.discovery), (it) => it.close());
  }

  const ping = (http_address: string, more: Record<string, unknown> = {}) => ({ type: 'D', http_address, zmq_address: '127.0.0.1:25001', ...more }) as const;

  whenIpv6('IPv6 engines register over IPv6, bracketed, bare or long, as one worker, and serve', async () => {
    const engine = await scripted({ host: '::1' });
    const router = await started.router(['--discovery-address', '[::1]:0', '--host', '::1', '--admin-host', '::1', '--open-metrics']);
    expect([router.api, router.adminAddress, router.discovery].every((address) => /^\[::1\]:\d+$/.test(address))).toBe(true);
    const port = String(engine.port);
    const sender = pinger(router);
    const spellings = [`::1:${port}`, `[::1]:${port}`, `http://[::1]:${port}`, `HTTP://[0:0:0:0:0:0:0:1]:${port}/`, `0:0:0:0:0:0:0:1:${port}`];
    for (const spelling of spellings) await sender.ping(ping(spelling));
    await router.admin.selectable({ decode: 1 });
    await eventually('all are heard', async () => sumOf(readSamples(await (await fetch(`${router.admin.url}/metrics`)).text()), 'switchyard_registrations_total', { kind: 'heartbeat' }) === 4);
    const workers = await router.admin.workers();
    expect(workers.map(({ endpoint, role }) => [endpoint, role])).toEqual([[`http://[::1]:${port}`, 'decode']]);
    await router.admin.call('POST', '/api/v1/workers', { role: 'prefill', url: `http://[::1]:${port}` });
    await router.admin.selectable({ prefill: 1, decode: 1 });
    expect((await router.post('/v1/completions', { model: 'm', prompt: 'x' })).status).toBe(200);
    expect(engine.inference()[0]!.headers.host).toBe(`[::1]:${port}`);
  });

  whenIpv6('one discovery socket on every address hears IPv4 and IPv6 engines', async () => {
    const [four, six] = [await scripted(), await scripted({ host: '::1' })];
    const router = await started.router(['--discovery-address', '[::]:0']);
    const port = router.discovery.split(':').at(-1)!;
    for (const [host, engine, address] of [
      ['127.0.0.1', four, four.address],
      ['[::1]', six, `[::1]:${String(six.port)}`],
    ] as const) {
      const sender = started.add(new Pinger(`${host}:${port}`), (it) => it.close());
      await sender.ping(ping(address));
      expect(engine.port).toBeGreaterThan(0);
    }
    await router.admin.selectable({ decode: 2 });
  });

  it('host names are looked up, judged by every address, and kept as the name', async () => {
    const engine = await scripted({ host: '127.0.0.1' });
    const router = await started.router();
    const sender = pinger(router);
    await sender.ping(ping(`LocalHost:${String(engine.port)}`));
    await sender.ping(ping(`http://localhost.:${String(engine.port)}/`));
    await router.admin.selectable({ decode: 1 });
    expect((await router.admin.workers()).map(({ endpoint }) => endpoint)).toEqual([`http://localhost:${String(engine.port)}`]);
  });

  it('names and senders outside --discovery-allow do not register, with one log line each that names the flag', async () => {
    const engine = await scripted();
    // Loopback may send, but only 10.0.0.0/8 may be registered.
    const router = await started.router(['--discovery-allow', '10.0.0.0/8', '--discovery-allow', '127.0.0.2', '--log-level', 'warn']);
    const sender = pinger(router);
    for (let n = 0; n < 3; n += 1) await sender.ping(ping(engine.address));
    await eventually('the refusal is logged', () => router.child.stderr.some((line) => line.includes('--discovery-allow') && line.includes('forbidden_sender')));
    await pause(300);
    expect(await router.admin.workers()).toEqual([]);
    expect(router.child.stderr.filter((line) => line.includes('forbidden_sender'))).toHaveLength(1);

    const open = await started.router(['--discovery-allow', '127.0.0.1/32', '--log-level', 'warn']);
    const heard = pinger(open);
    for (const address of ['10.1.2.3:8000', '127.0.0.2:8000', '8.8.8.8:8000', `${hostname()}.invalid-label-:80`]) await heard.ping(ping(address));
    await heard.ping(ping(engine.address));
    await open.admin.selectable({ decode: 1 });
    expect((await open.admin.workers()).map(({ endpoint }) => endpoint)).toEqual([engine.url]);
    const [line] = open.child.stderr.filter((each) => each.includes('forbidden_host'));
    expect(line).toContain('10.1.2.3 is outside the allowed networks (--discovery-allow)');
  });

  it('an engine refused by a wrong allow-list is heard once the list is right, without being restarted', async () => {
    const engine = await scripted();
    const router = await started.router(['--discovery-allow', '10.0.0.0/8']);
    const sender = pinger(router);
    await sender.keepPinging(ping(engine.address), 200);
    await pause(600);
    const { discovery } = router;
    expect(await router.stop()).toBe(0);
    const corrected = await started.router(['--discovery-address', discovery]);
    await corrected.admin.selectable({ decode: 1 });
  });

  it('link-local and metadata addresses stay closed even when everything is allowed', async () => {
    const router = await started.router(['--discovery-allow', '0.0.0.0/0', '--discovery-allow', '::/0', '--open-metrics']);
    const sender = pinger(router);
    const closed = ['169.254.169.254:80', '[::ffff:a9fe:a9fe]:80', '[fe80::1]:80', '[fd00:ec2::254]:80', '100.100.100.200:80', '0.0.0.0:80'];
    for (const address of closed) await sender.ping(ping(address));
    await eventually('all are refused', async () => {
      const samples = readSamples(await (await fetch(`${router.admin.url}/metrics`)).text());
      return sumOf(samples, 'switchyard_registrations_total', { kind: 'rejected' }) === closed.length;
    });
    await sender.ping(ping('203.0.113.9:8000'));
    await eventually('others are not', async () => (await router.admin.workers()).length === 1);
  });

  it('a listed engine that also pings outlives its pings as one worker: heartbeat lost, still serving', async () => {
    const engine = await scripted();
    const router = await started.router(['--worker-url', engine.url, '--decode', engine.url, '--prefill', engine.url, '--registration-ttl-secs', '1.5']);
    await router.admin.selectable({ prefill: 1, decode: 1, regular: 1 });
    const before = (await router.admin.worker('decode', engine.url))!;
    expect(before).toMatchObject({ sources: ['static'], heartbeat: 'none', zmqAddress: null });
    const sender = pinger(router);
    await sender.keepPinging(ping(engine.address), 300);
    await eventually('both sources', async () => (await router.admin.worker('decode', engine.url))!.sources.length === 2);
    expect(await router.admin.worker('decode', engine.url)).toMatchObject({ id: before.id, heartbeat: 'ok', zmqAddress: '127.0.0.1:25001', selectable: true });
    sender.silence();
    await eventually('lost', async () => (await router.admin.worker('decode', engine.url))!.heartbeat === 'lost');
    expect(await router.admin.worker('decode', engine.url)).toMatchObject({ id: before.id, sources: ['static'], selectable: true });
    expect((await router.post('/v1/completions', { model: 'm', prompt: 'x' })).status).toBe(200);
    await sender.ping(ping(engine.address));
    await eventually('heard again', async () => (await router.admin.worker('decode', engine.url))!.heartbeat === 'ok');
    expect((await router.admin.worker('decode', engine.url))!.id).toBe(before.id);
    // Other roles at the same endpoint never were part of it.
    expect((await router.admin.workers()).map(({ role, heartbeat }) => [role, heartbeat]).sort()).toEqual([
      ['decode', 'ok'],
      ['prefill', 'none'],
      ['regular', 'none'],
    ]);
  });

  it('admin-added workers: checked at once, canonical, one a role and endpoint, labelled, removed only when drained', async () => {
    const [a, b] = [await scripted(), await scripted({ version: '0.12.0' })];
    const router = await started.router();
    const add = async (body: unknown) => await router.admin.call('POST', '/api/v1/workers', body);
    const added = await add({ role: 'regular', url: `HTTP://127.0.0.1:${String(a.port)}/`, group: 'blue', models: ['stated'], zmqAddress: '127.0.0.1:9' });
    expect(added).toMatchObject({
      status: 201,
      json: { role: 'regular', endpoint: a.url, sources: ['admin'], group: 'blue', zmqAddress: '127.0.0.1:9', heartbeat: 'none', id: expect.stringMatching(/^regular-\d+$/) },
    });
    expect(await add({ role: 'regular', url: a.url })).toMatchObject({ status: 409, json: { error: { code: 'worker_present' } } });
    expect(await add({ role: 'decode', url: a.url })).toMatchObject({ status: 201 });
    expect(await add({ role: 'regular', url: b.url })).toMatchObject({ status: 201 });
    await router.admin.selectable({ regular: 2, decode: 1 });
    expect(await router.admin.worker('regular', a.url)).toMatchObject({ models: ['stated'], modelsKnown: true });
    expect(await router.admin.worker('regular', b.url)).toMatchObject({ models: ['m'], group: '0.12.0' });

    const remove = async (id: string, query = '') => await router.admin.call('DELETE', `/api/v1/workers/${id}${query}`);
    const id = added.json.id as string;
    expect(await remove(id)).toMatchObject({ status: 409, json: { error: { code: 'not_drained', remedy: expect.any(String) } } });
    await router.admin.call('POST', `/api/v1/workers/${id}/drain`, { force: true });
    expect((await remove(id)).status).toBeLessThan(300);
    expect(await router.admin.worker('regular', a.url)).toBeUndefined();
    expect(await remove(id)).toMatchObject({ status: 409, json: { error: { code: 'generation_changed', details: { successorId: null } } } });
    const decode = (await router.admin.worker('decode', a.url))!;
    expect((await remove(decode.id, '?force=true')).status).toBeLessThan(300);
    expect((await router.admin.workers()).map(({ endpoint }) => endpoint)).toEqual([b.url]);
    expect(await add({ role: 'regular', url: a.url })).toMatchObject({ status: 201 });
  });
});
