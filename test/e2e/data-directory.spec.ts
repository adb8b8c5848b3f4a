import { execFile } from 'node:child_process';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { eventually } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { type RouterProcess, withTemporaryDirectory } from '../support/router-process.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { switchyard } from '../support/switchyard-cli.js';

const run = promisify(execFile);

/** From now on no file of the process may grow: every write fails, as on a full disk. `null` lifts it again. */
async function limitFileSize(router: RouterProcess, bytes: number | null): Promise<void> {
  await run('prlimit', ['--pid', String(router.child.pid), `--fsize=${bytes === null ? 'unlimited' : String(bytes)}:`]);
}

describe('the data directory', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  async function scripted(): Promise<ScriptedEngine> {
    return started.add(await ScriptedEngine.start(), (engine) => engine.stop());
  }

  const serve = (dataDir: string) =>
    switchyard(['serve', '--port', '0', '--admin-port', '0', '--discovery-address', '127.0.0.1:0', '--host', '127.0.0.1', '--data-dir', dataDir]);

  it('is for one process at a time: a second one exits 2 and says so; a killed one leaves it usable', async () => {
    await withTemporaryDirectory(async (path) => {
      const dataDir = join(path, 'made', 'on', 'demand');
      const router = await started.router([], { dataDir });
      const second = await serve(dataDir);
      expect([second.code, second.out]).toEqual([2, '']);
      expect(second.err).toContain(dataDir);
      expect(second.err.trim().split('\n')).toHaveLength(1);
      expect((await fetch(`${router.url}/liveness`)).status).toBe(200);

      router.child.signal('SIGKILL');
      await router.child.end();
      const after = await started.router([], { dataDir });
      expect((await fetch(`${after.url}/liveness`)).status).toBe(200);
    });
  });

  it('must be writable: a file, a path under a file and a damaged store exit 2 with one line that names it', async () => {
    await withTemporaryDirectory(async (path) => {
      const file = join(path, 'file');
      await writeFile(file, 'x');
      const damaged = join(path, 'damaged');
      await mkdir(damaged);
      await writeFile(join(damaged, 'switchyard.db'), 'no database at all '.repeat(500));
      for (const dataDir of [file, join(file, 'below'), '/proc/switchyard', damaged]) {
        const ended = await serve(dataDir);
        expect([dataDir, ended.code, ended.out]).toEqual([dataDir, 2, '']);
        expect(ended.err).toContain(dataDir);
        expect(ended.err.trim().split('\n')).toHaveLength(1);
      }
    });
  });

  it('keeps events, generations, intents, quarantine and added workers over kill -9', async () => {
    await withTemporaryDirectory(async (dataDir) => {
      const [a, b, c] = [await scripted(), await scripted(), await scripted()];
      const first = await started.router(['--worker-url', a.url], { dataDir });
      await first.admin.call('POST', '/api/v1/workers', { role: 'regular', url: b.url, group: 'blue' });
      await first.admin.call('POST', '/api/v1/workers', { role: 'regular', url: c.url });
      await first.admin.selectable({ regular: 3 });
      const evicted = (await first.admin.worker('regular', c.url))!;
      expect((await first.admin.call('POST', `/api/v1/workers/${evicted.id}/evict`, { reason: 'kill test', quarantineSecs: -1 })).status).toBe(200);
      const drained = (await first.admin.worker('regular', b.url))!;
      expect((await first.admin.call('POST', `/api/v1/workers/${drained.id}/drain`, { reason: 'kept', deadlineSecs: 3_600 })).status).toBe(200);
      const highest = Math.max(...(await first.admin.workers()).map(({ generation }) => generation), evicted.generation);
      const { items } = (await first.admin.get('/api/v1/events?limit=1000')) as { items: { eventSeq: number; type: string }[] };
      expect(items.map(({ type }) => type)).toEqual(expect.arrayContaining(['registered', 'added', 'evict', 'drain']));

      // What was answered is on disk: nothing is given time to be written.
      first.child.signal('SIGKILL');
      await first.child.end();
      const second = await started.router(['--worker-url', a.url], { dataDir });
      await second.admin.selectable({ regular: 1 });
      const workers = await second.admin.workers();
      expect(workers.every(({ generation }) => generation > highest)).toBe(true);
      expect(workers.map(({ endpoint, sources, adminState }) => [endpoint, sources[0], adminState]).sort()).toEqual(
        [
          [a.url, 'static', 'ready'],
          [b.url, 'admin', 'drained'],
        ].sort(),
      );
      expect(await second.admin.worker('regular', b.url)).toMatchObject({ group: 'blue', drain: { reason: 'kept', until: 'restart', deadlineAt: expect.any(String) } });
      expect((await second.admin.get('/api/v1/quarantine')).items).toMatchObject([{ role: 'regular', endpoint: c.url, until: null, reason: 'kill test' }]);
      const later = ((await second.admin.get('/api/v1/events?limit=1000')) as { items: { eventSeq: number; type: string }[] }).items;
      expect(later.slice(0, items.length)).toEqual(items);
      expect(later.map(({ eventSeq }) => eventSeq)).toEqual([...later.map(({ eventSeq }) => eventSeq)].sort((x, y) => x - y));
      expect(new Set(later.map(({ eventSeq }) => eventSeq)).size).toBe(later.length);

      // Evicting an admin-added worker took its statement: readmitted, nobody states it any more.
      expect((await second.admin.call('DELETE', `/api/v1/quarantine/regular/${encodeURIComponent(c.url)}`)).status).toBe(204);
      expect(await second.admin.worker('regular', c.url)).toBeUndefined();
    });
  });

  it('memory keeps nothing, and numbers still grow from one run to the next', async () => {
    const engine = await scripted();
    const first = await started.router(['--worker-url', engine.url]);
    const [before] = await first.admin.selectable({ regular: 1 });
    await first.admin.call('POST', `/api/v1/workers/${before!.id}/drain`, { force: true });
    await first.stop();
    const second = await started.router(['--worker-url', engine.url]);
    const [after] = await second.admin.selectable({ regular: 1 });
    expect(after!.generation).toBeGreaterThan(before!.generation);
    expect((await second.admin.get('/api/v1/drains')).items).toEqual([]);
  });

  it('that cannot be written later: intents are refused 503 and change nothing, requests go on; when it can again, so do they', async () => {
    await withTemporaryDirectory(async (dataDir) => {
      const [a, b] = [await scripted(), await scripted()];
      const router = await started.router(['--worker-url', a.url, b.url], { dataDir });
      const workers = await router.admin.selectable({ regular: 2 });
      const id = workers.find(({ endpoint }) => endpoint === a.url)!.id;
      await limitFileSize(router, 1);
      const mutations = [
        ['POST', `/api/v1/workers/${id}/drain`, { reason: 'full' }],
        ['POST', `/api/v1/workers/${id}/evict`, { reason: 'full' }],
        ['POST', '/api/v1/workers', { role: 'decode', url: 'http://127.0.0.1:1' }],
        ['POST', '/api/v1/endpoints/drain', { endpoint: a.url }],
        ['POST', '/api/v1/endpoints/cordon', { endpoint: 'http://10.1.1.1:8000', role: 'decode' }],
      ] as const;
      for (const [method, path, body] of mutations) {
        const refused = await router.admin.call(method, path, body);
        expect([path, refused.status, refused.json.error.code]).toEqual([path, 503, 'store_unavailable']);
        expect(refused.json.error.remedy).toEqual(expect.any(String));
      }
      expect((await router.admin.workers()).map(({ id: each, adminState, selectable }) => [each, adminState, selectable])).toEqual(
        workers.map(({ id: each }) => [each, 'ready', true]),
      );
      expect((await router.admin.get('/api/v1/drains')).items).toEqual([]);
      expect((await router.admin.get('/api/v1/quarantine')).items).toEqual([]);
      for (let n = 0; n < 20; n += 1) expect((await router.post('/v1/completions', { model: 'm', prompt: String(n) })).status).toBe(200);
      expect((await fetch(`${router.url}/readiness`)).status).toBe(200);
      expect(router.child.ended).toBe(false);

      await limitFileSize(router, null);
      await eventually('drains are taken again', async () => (await router.admin.call('POST', `/api/v1/workers/${id}/drain`, { reason: 'room again' })).status === 200);
      expect(await router.stop()).toBe(0);
      const second = await started.router(['--worker-url', a.url, b.url], { dataDir });
      await second.admin.selectable({ regular: 1 });
      expect((await second.admin.get('/api/v1/drains')).items).toMatchObject([{ endpoint: a.url, reason: 'room again' }]);
    });
  });

  it('whose files vanish under a running router: intents are refused instead of kept where nobody finds them', async () => {
    await withTemporaryDirectory(async (path) => {
      const dataDir = join(path, 'data');
      const [a, b] = [await scripted(), await scripted()];
      const router = await started.router(['--worker-url', a.url, b.url], { dataDir });
      await router.admin.selectable({ regular: 2 });
      await rename(dataDir, join(path, 'elsewhere'));
      await mkdir(dataDir);
      expect(await router.admin.call('POST', '/api/v1/endpoints/drain', { endpoint: a.url })).toMatchObject({ status: 503, json: { error: { code: 'store_unavailable' } } });
      expect((await router.admin.get('/api/v1/drains')).items).toEqual([]);
      expect((await router.post('/v1/completions', { model: 'm', prompt: 'x' })).status).toBe(200);
    });
  });
});
