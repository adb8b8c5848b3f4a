import { ClusterKit, outcome } from '../testing/cluster-kit.contract-suite.js';
import { type Role } from '../words.js';

const at: Readonly<Record<'prefill' | 'decode', string>> = { prefill: 'http://10.0.0.1:8000', decode: 'http://10.0.0.2:8000' };

/** What can come between two steps of a request, to the engine of `role`. */
const changes: Readonly<Record<string, (kit: ClusterKit, role: 'prefill' | 'decode') => void>> = {
  'a new process by instance': (kit, role) => kit.join(role, at[role], { instance: 'new' }),
  'a new process by ZMQ address': (kit, role) => kit.join(role, at[role], { zmqAddress: 'tcp://new' }),
  'a new process by start time': (kit, role) => {
    kit.probe(kit.worker(role, at[role]), { startedAtSecs: 9_000 });
    kit.probe(kit.worker(role, at[role]), { startedAtSecs: 9_000 });
  },
  'an eviction': (kit, role) => kit.evict(kit.worker(role, at[role])),
  'an eviction and the return': (kit, role) => {
    kit.evict(kit.worker(role, at[role]), { quarantineMs: 0 });
    kit.join(role, at[role], { instance: 'old', zmqAddress: 'tcp://old', startedAtSecs: 100 });
  },
  'expiry and the return, without a sweep': (kit, role) => {
    // The other role is heard all the while, so only this one is over.
    const other: Role = role === 'prefill' ? 'decode' : 'prefill';
    for (let step = 0; step < 25; step += 1) {
      kit.cluster.listeningClock.tick((kit.nowMs += 500));
      kit.register(other, at[other === 'prefill' ? 'prefill' : 'decode'], { instance: 'old', zmqAddress: 'tcp://old', startedAtSecs: 100 });
    }
    kit.join(role, at[role], { instance: 'old', zmqAddress: 'tcp://old', startedAtSecs: 100 });
  },
};

const steps = ['hashing and reserve', 'reserve and the prefill call', 'the prefill answer and begin-decode', 'begin-decode and dispatch'] as const;

/**
 * Walks a request as the proxy does, with `change` forced at one of its edges. Returns the calls it would have written,
 * each with what the worker was at that moment.
 */
function walk(kit: ClusterKit, edge: (typeof steps)[number], change: () => void): { readonly role: string; readonly departed: boolean }[] {
  const { scheduler, fleet } = kit.cluster;
  const calls: { readonly role: string; readonly departed: boolean }[] = [];
  const call = (grantId: number, workerId: string, role: string): boolean => {
    // The flag that `onRevoked` sets is read in the same turn in which the request would be written.
    if (kit.revocations.some((revocation) => revocation.grantId === grantId && revocation.workerId === workerId)) return false;
    calls.push({ role, departed: fleet.byId(workerId)?.departure !== null });
    return true;
  };
  let changed = false;
  const force = (now: (typeof steps)[number]): void => {
    if (changed || now !== edge) return;
    changed = true;
    change();
  };
  const requestKey = kit.open();
  for (let attempt = 0; attempt < 3; attempt += 1) {
    force('hashing and reserve');
    const grant = kit.reserve({ requestKey });
    if (grant.kind !== 'pair') break;
    force('reserve and the prefill call');
    if (!call(grant.grantId, grant.prefill.workerId, 'prefill')) {
      kit.end(grant.grantId, 'failed', { phase: 'prefill', fault: 'revoked' });
      continue;
    }
    kit.prefillDone(grant.grantId);
    force('the prefill answer and begin-decode');
    const prefillGone = fleet.byId(grant.prefill.workerId)?.departure !== null;
    const begun = scheduler.beginDecode(grant.grantId, []);
    if (begun.kind !== 'decode') {
      scheduler.end(grant.grantId, outcome('cancelled', { phase: 'decode' }));
      if (begun.kind === 'unavailable') break;
      continue;
    }
    expect(prefillGone).toBe(false);
    force('begin-decode and dispatch');
    if (!call(grant.grantId, begun.decode.workerId, 'decode')) {
      kit.end(grant.grantId, 'failed', { phase: 'decode', fault: 'revoked' });
      continue;
    }
    kit.firstByte(grant.grantId, 'decode');
    kit.end(grant.grantId, 'succeeded', { phase: 'decode' });
    break;
  }
  kit.close(requestKey);
  return calls;
}

describe.each(['nixl', 'p2p-nccl'] as const)('over %s', (connector) => {
  describe.each(steps)('between %s', (edge) => {
    it.each(Object.keys(changes).flatMap((name) => (['prefill', 'decode'] as const).map((role) => [name, role] as const)))('%s of %s', (name, role) => {
      const kit = new ClusterKit({ connector });
      const old = (['prefill', 'decode'] as const).map((each) => kit.join(each, at[each], { instance: 'old', zmqAddress: 'tcp://old', startedAtSecs: 100 }));
      const calls = walk(kit, edge, () => changes[name]?.(kit, role));
      expect(calls.filter(({ departed }) => departed)).toEqual([]);
      const workers = [...old, ...kit.cluster.fleet.workers()];
      for (const worker of workers) {
        expect([worker.id, worker.load, worker.holds.size]).toEqual([worker.id, 0, 0]);
        const { succeeded, failed, cancelled } = worker.ended;
        expect(worker.processed).toBe(succeeded + failed + cancelled);
      }
      expect([...kit.cluster.fleet.departedWorkers]).toEqual([]);
      kit.cluster.scheduler.sweepLedger();
      expect(kit.leaks).toEqual([]);
      if (name === 'an eviction') expect(kit.find(role, at[role])).toBeUndefined();
      else expect(calls.at(-1)?.role).toBe('decode');
    });
  });
});

describe('a call that runs already', () => {
  it('goes on when its worker departs: only what has not begun is forbidden', () => {
    const kit = new ClusterKit();
    kit.join('prefill', at.prefill, { instance: 'old' });
    kit.join('decode', at.decode, { instance: 'old' });
    const { grantId, prefill } = kit.reservePair();
    kit.join('prefill', at.prefill, { instance: 'new' });
    expect(kit.revocations).toEqual([{ grantId, workerId: prefill.workerId, cause: 'departed', abortRunning: false }]);
  });
});

describe('a grant whose client left while it was on the way', () => {
  it('is released by whoever receives it', () => {
    const kit = new ClusterKit({ connector: 'p2p-nccl' });
    const prefill = kit.join('prefill', at.prefill);
    const decode = kit.join('decode', at.decode);
    const { grantId } = kit.reservePair();
    kit.end(grantId, 'cancelled', { phase: 'prefill' });
    expect([prefill.load, decode.boundHolds, prefill.ended.cancelled]).toEqual([0, 0, 1]);
  });
});
