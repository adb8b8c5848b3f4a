import { ClusterKit } from '../testing/cluster-kit.contract-suite.js';
import { type Worker } from '../workers/worker.js';

const endpoint = (host: number): string => `http://10.0.0.${host}:8000`;
const hosts = [1, 2, 3, 4, 5, 6];

/** Requests each worker of `kit` got of 600 cold ones, one after the other or all at once. */
function picks(kit: ClusterKit, how: 'sequential' | 'concurrent', requests = 600): number[] {
  const workers = [...kit.cluster.fleet.pools.regular.workers].filter(({ selectable }) => selectable);
  const before = new Map<Worker, number>(workers.map((worker) => [worker, worker.processed]));
  const grants: number[] = [];
  for (let request = 0; request < requests; request += 1) {
    const requestKey = kit.open();
    const { grantId } = kit.reserveSingle({ requestKey });
    if (how === 'concurrent') grants.push(grantId);
    else kit.end(grantId, 'succeeded');
    if (how === 'sequential') kit.close(requestKey);
  }
  for (const grantId of grants) kit.end(grantId, 'succeeded');
  return workers.map((worker) => worker.processed - (before.get(worker) ?? 0));
}

describe.each(['cache_aware', 'least_load', 'round_robin'] as const)('600 cold requests over 6 equal workers with %s', (policy) => {
  const spreadEvenly = (counts: number[]): void => {
    expect(counts).toHaveLength(6);
    for (const count of counts) {
      expect(count).toBeGreaterThanOrEqual(90);
      expect(count).toBeLessThanOrEqual(110);
    }
  };

  it.each(['sequential', 'concurrent'] as const)('spread within 10 %% when %s', (how) => {
    const kit = new ClusterKit({ policy });
    for (const host of hosts) kit.join('regular', endpoint(host), { source: 'static' });
    spreadEvenly(picks(kit, how));
  });

  it('and right after one was replaced', () => {
    const kit = new ClusterKit({ policy });
    for (const host of hosts) kit.join('regular', endpoint(host), { instance: '1' });
    picks(kit, 'sequential', 1_200);
    for (const [host, how] of [[3, 'sequential'], [5, 'concurrent']] as const) {
      kit.join('regular', endpoint(host), { instance: '2' });
      spreadEvenly(picks(kit, how));
    }
  });

  it('and after one was undrained having missed 10,000 picks', () => {
    const kit = new ClusterKit({ policy });
    for (const host of hosts) kit.join('regular', endpoint(host));
    for (const [host, how] of [[2, 'sequential'], [6, 'concurrent']] as const) {
      kit.drain(kit.worker('regular', endpoint(host)));
      picks(kit, 'sequential', host === 2 ? 10_000 : 1_000);
      kit.cluster.operations.undrain('regular', endpoint(host), 'ops');
      spreadEvenly(picks(kit, how));
    }
  });

  it('and after one was unhealthy, or in a restart check, for long', () => {
    const kit = new ClusterKit({ policy });
    const [sick, suspect] = hosts.map((host) => kit.join('regular', endpoint(host)));
    for (let round = 0; round < 3; round += 1) kit.probe(sick!, { healthy: false });
    suspect!.health.suspectRestart(kit.nowMs);
    kit.cluster.fleet.refresh(suspect!);
    picks(kit, 'sequential', 1_000);
    kit.probe(sick!);
    kit.probe(suspect!);
    spreadEvenly(picks(kit, 'sequential'));
  });
});

describe('virtual time', () => {
  it('is kept by a pool that was empty for a while', () => {
    const kit = new ClusterKit();
    kit.join('regular', endpoint(1), { instance: '1' });
    kit.join('regular', endpoint(2));
    picks(kit, 'sequential', 2_000);
    kit.drain(kit.worker('regular', endpoint(2)));
    kit.cluster.registry.evict(kit.worker('regular', endpoint(1)).lifetime);
    // Nobody is left when the restarted one comes; the other follows with all its turns.
    kit.join('regular', endpoint(1), { instance: '2' });
    kit.cluster.operations.undrain('regular', endpoint(2), 'ops');
    expect(picks(kit, 'sequential', 100).sort()).toEqual([50, 50]);
  });

  it('never runs back', () => {
    const kit = new ClusterKit();
    const ahead = kit.join('regular', endpoint(1));
    const behind = kit.join('regular', endpoint(2));
    for (let request = 0; request < 10; request += 1) kit.end(kit.reserveSingle({ exclude: [behind.id] }).grantId, 'succeeded');
    kit.drain(ahead);
    kit.cluster.operations.undrain('regular', endpoint(1), 'ops');
    expect([ahead.turn, behind.turn]).toEqual([10, 0]);
  });
});

describe('early binding', () => {
  it.each(['cache_aware', 'power_of_two', 'least_load'] as const)('counts what is bound: loads 5 and 4, 40 simultaneous prefills, %s', (decodePolicy) => {
    const kit = new ClusterKit({ connector: 'p2p-nccl', decodePolicy });
    for (const host of [1, 2, 3]) kit.join('prefill', endpoint(host));
    const decode = [kit.join('decode', endpoint(4)), kit.join('decode', endpoint(5))] as const;
    for (const [worker, load] of [[decode[0], 5], [decode[1], 4]] as const) {
      const other = decode.find((each) => each !== worker);
      for (let request = 0; request < load; request += 1) {
        const { grantId } = kit.reservePair({ exclude: [other!.id] });
        kit.prefillDone(grantId);
        kit.beginDecode(grantId);
      }
    }
    expect(decode.map(({ load }) => load)).toEqual([5, 4]);
    for (let request = 0; request < 40; request += 1) kit.reservePair();
    const bound = decode.map(({ boundHolds }) => boundHolds);
    expect(bound[0]! + bound[1]!).toBe(40);
    expect(Math.abs(bound[0]! - bound[1]!)).toBeLessThanOrEqual(2);
    expect(decode.map(({ load }) => load)).toEqual([5, 4]);
  });
});
