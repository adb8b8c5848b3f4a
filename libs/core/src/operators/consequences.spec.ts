import { ClusterKit } from '../testing/cluster-kit.contract-suite.js';

const endpoints = ['http://10.0.0.1:8000', 'http://10.0.0.2:8000', 'http://10.0.0.3:8000'] as const;

describe('the consequences of taking a worker away', () => {
  it('are said without anything being done', () => {
    const kit = new ClusterKit();
    kit.join('prefill', endpoints[0], {}, { models: ['m'] });
    const [decode] = endpoints.map((endpoint) => kit.join('decode', endpoint, {}, { models: ['m'] }));
    const grants = [kit.reservePair().grantId, kit.reservePair().grantId];
    for (const id of grants) kit.prefillDone(id);
    const prefill = kit.worker('prefill', endpoints[0]);
    const { seq } = kit.cluster;
    const events = kit.events.length;
    expect(kit.cluster.operations.consequences(decode!)).toEqual({
      leasesNow: 0,
      holdsNow: 0,
      poolSelectableBefore: 3,
      poolSelectableAfter: 2,
      poolTotal: 3,
      wouldStrand: null,
    });
    expect(kit.cluster.operations.consequences(prefill)).toEqual({
      leasesNow: 0,
      holdsNow: 2,
      poolSelectableBefore: 1,
      poolSelectableAfter: 0,
      poolTotal: 1,
      wouldStrand: { role: 'prefill', model: 'm', group: '*' },
    });
    expect([kit.cluster.seq, kit.events.length, decode!.adminState]).toEqual([seq, events, 'ready']);
  });

  it('are none where the worker takes no work anyway', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', endpoints[0]);
    kit.reserveSingle();
    kit.drain(worker);
    expect(kit.cluster.operations.consequences(worker)).toEqual({
      leasesNow: 1,
      holdsNow: 0,
      poolSelectableBefore: 0,
      poolSelectableAfter: 0,
      poolTotal: 1,
      wouldStrand: null,
    });
  });

  it('are what the drain is then refused for', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', endpoints[0]);
    const { wouldStrand } = kit.cluster.operations.consequences(worker);
    expect(kit.drain(worker, { force: false })).toEqual({ ok: false, code: 'last_selectable_worker', ...wouldStrand });
    kit.join('regular', endpoints[1]);
    expect(kit.cluster.operations.consequences(worker).wouldStrand).toBeNull();
    expect(kit.drain(worker, { force: false }).ok).toBe(true);
  });
});
