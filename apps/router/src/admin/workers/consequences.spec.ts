import { consequencesSchema } from '@switchyard/core/contracts';

import { AdminHarness, viewerToken } from '../testing/admin-harness.js';

describe('GET workers/{id}/consequences', () => {
  let admin: AdminHarness;
  beforeEach(async () => {
    admin = await AdminHarness.start();
  });
  afterEach(() => admin.close());

  it.each(['drain', 'evict'])('tells what %s would mean, and does nothing', async (action) => {
    const id = admin.register('regular', 'http://10.0.0.1:8000');
    admin.begin(1);
    const path = `/api/v1/workers/${id}/consequences?action=${action}`;
    const { status, body } = await admin.call('GET', path, undefined, { authorization: `Bearer ${viewerToken}` });
    expect(status).toBe(200);
    expect(consequencesSchema.parse(body)).toEqual({
      action,
      leasesNow: 1,
      holdsNow: 0,
      poolSelectableBefore: 1,
      poolSelectableAfter: 0,
      poolTotal: 1,
      wouldStrand: { role: 'regular', model: 'm', group: '*' },
    });
    expect(admin.cluster.fleet.byId(id)).toMatchObject({ adminState: 'ready', departure: null });
    admin.register('regular', 'http://10.0.0.2:8000');
    expect((await admin.get(path)).body).toMatchObject({ poolSelectableBefore: 2, poolSelectableAfter: 1, poolTotal: 2, wouldStrand: null });
  });

  it('refuses unknown actions, and workers that are not there', async () => {
    const id = admin.register('regular', 'http://10.0.0.1:8000');
    expect((await admin.get(`/api/v1/workers/${id}/consequences`)).status).toBe(400);
    expect((await admin.get(`/api/v1/workers/${id}/consequences?action=reboot`)).body.error.code).toBe('invalid_request');
    expect((await admin.get('/api/v1/workers/regular-999/consequences?action=drain')).body.error.code).toBe('unknown_worker');
  });
});
