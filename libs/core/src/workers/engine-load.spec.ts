import { ClusterKit } from '../testing/cluster-kit.contract-suite.js';
import { workerView } from '../views/worker.view.js';

const a = 'http://10.0.0.1:8000';
const reading = { running: 2, waiting: 1, kvUsage: 0.4 };
const idle = { running: 0, waiting: 0, kvUsage: 0 };

describe('what an engine tells of its own load', () => {
  it('is shown with its age, and is a change', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    expect(workerView(kit.cluster, worker).engine).toBeNull();
    const { seq } = kit.cluster;
    kit.cluster.engineReported(worker.id, reading);
    expect(kit.cluster.seq).toBeGreaterThan(seq);
    kit.nowMs += 700;
    expect(workerView(kit.cluster, worker).engine).toEqual({ version: null, startedAt: null, ...reading, ageMs: 700 });
    kit.cluster.engineReported('regular-999', reading);
  });

  it('speaks against a stop while it works on what this router does not count', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    const safe = (): boolean => kit.cluster.fleet.safeToStop(worker);
    kit.drain(worker);
    expect(safe()).toBe(true);
    kit.cluster.engineReported(worker.id, reading);
    expect([worker.adminState, safe()]).toEqual(['drained', false]);
    kit.cluster.engineReported(worker.id, { running: 0, waiting: 1, kvUsage: null });
    expect(safe()).toBe(false);
    kit.cluster.engineReported(worker.id, idle);
    expect(safe()).toBe(true);
  });

  it('counts for 15 seconds, and not at all where it says neither', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a, { source: 'static', ttlMs: null });
    kit.drain(worker);
    kit.cluster.engineReported(worker.id, reading);
    kit.advance(15_000);
    expect(kit.cluster.fleet.safeToStop(worker)).toBe(false);
    kit.advance(250);
    expect(kit.cluster.fleet.safeToStop(worker)).toBe(true);
    kit.cluster.engineReported(worker.id, { running: null, waiting: null, kvUsage: 0.9 });
    expect(kit.cluster.fleet.safeToStop(worker)).toBe(true);
  });

  it('does not hold the requests against it that were ours, and ended since', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    const { grantId } = kit.reserveSingle();
    kit.cluster.engineReported(worker.id, { running: 1, waiting: 0, kvUsage: null });
    kit.drain(worker);
    kit.end(grantId, 'succeeded');
    expect(kit.cluster.fleet.safeToStop(worker)).toBe(true);
    // What still runs there now is not ours by the ledger, though perhaps left over from us.
    kit.cluster.engineReported(worker.id, { running: 1, waiting: 0, kvUsage: null });
    expect(kit.cluster.fleet.safeToStop(worker)).toBe(false);
  });

  it('of one machine is that of all its roles', () => {
    const kit = new ClusterKit();
    const prefill = kit.join('prefill', a);
    const decode = kit.join('decode', a);
    kit.drain(prefill);
    kit.drain(decode);
    kit.cluster.engineReported(decode.id, reading);
    expect(kit.cluster.fleet.safeToStop(prefill)).toBe(false);
    kit.cluster.engineReported(decode.id, idle);
    expect(kit.cluster.fleet.safeToStop(prefill)).toBe(true);
  });

  it('is asked for more often while somebody waits for it to be safe to stop', () => {
    const kit = new ClusterKit();
    const worker = kit.join('regular', a);
    expect(kit.cluster.probeTargets).toMatchObject([{ workerId: worker.id, leaving: false }]);
    kit.drain(worker);
    expect(kit.cluster.probeTargets).toMatchObject([{ leaving: true }]);
  });
});
