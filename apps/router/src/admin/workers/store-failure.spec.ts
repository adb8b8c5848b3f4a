import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Database from 'libsql';

import { SqliteStore } from '../../store/sqlite.store.js';
import { AdminHarness } from '../testing/admin-harness.js';

describe('operations with a store on disk', () => {
  const dir = mkdtempSync(join(tmpdir(), 'switchyard-admin-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  it('refuse while it cannot be written, with nothing changed, and go on afterwards; survive a restart', async () => {
    const url = 'http://10.0.0.2:8000';
    const store = new SqliteStore(dir);
    const admin = await AdminHarness.start({ store });
    const decode = admin.register('decode', url);
    const spare = admin.register('decode', 'http://10.0.0.3:8000');
    const other = new Database(join(dir, 'switchyard.db'));
    other.exec('BEGIN IMMEDIATE');
    for (const [path, body] of [
      [`workers/${decode}/drain`, {}],
      [`workers/${decode}/evict`, { reason: 'x' }],
      ['workers', { role: 'regular', url: 'http://10.0.0.4:8000' }],
      ['endpoints/cordon', { endpoint: 'http://10.0.0.5:8000', role: 'decode' }],
    ] as const) {
      const { status, body: answer } = await admin.call('POST', `/api/v1/${path}`, body);
      expect([path, status, answer.error.code]).toEqual([path, 503, 'store_unavailable']);
    }
    expect(admin.cluster.fleet.byId(decode)).toMatchObject({ adminState: 'ready', departure: null, selectable: true });
    expect(admin.cluster.fleet.size).toBe(2);
    other.exec('ROLLBACK');
    other.close();
    expect((await admin.call('POST', `/api/v1/workers/${decode}/drain`, { until: 'undrain' })).status).toBe(200);
    expect((await admin.call('POST', `/api/v1/workers/${spare}/evict`, { reason: 'x', quarantineSecs: -1 })).status).toBe(200);
    expect((await admin.call('POST', '/api/v1/workers', { role: 'regular', url: 'http://10.0.0.4:8000' })).status).toBe(201);
    const events = (await admin.get('/api/v1/events?type=drain,evict,added')).body.items;
    await admin.close();
    store.close();

    const again = new SqliteStore(dir);
    const after = await AdminHarness.start({ store: again });
    const back = after.register('decode', url);
    expect(Number(back.split('-')[1])).toBeGreaterThan(Number(decode.split('-')[1]));
    expect((await after.get(`/api/v1/workers/${back}`)).body).toMatchObject({ adminState: 'drained', drain: { until: 'undrain' } });
    expect((await after.get('/api/v1/quarantine')).body.items).toEqual([expect.objectContaining({ endpoint: 'http://10.0.0.3:8000', until: null })]);
    expect((await after.get('/api/v1/workers')).body.pools.regular.total).toBe(1);
    expect((await after.get('/api/v1/events?type=drain,evict,added')).body.items).toEqual(events);
    await after.close();
    again.close();
  });
});
