import fc from 'fast-check';
import { ClusterKit } from './testing/cluster-kit.contract-suite.js';
import { ClusterModel, type Operation, operationKinds } from './testing/cluster-model.contract-suite.js';
import { policyNames } from './words.js';

const long = process.env['SWITCHYARD_TEST_LONG'] === '1' ? 20 : 1;

/** Histories need engines that ping and answer probes, and requests on their way, far more often than the rest. */
const often: Partial<Record<(typeof operationKinds)[number], number>> = {
  join: 12,
  'all ping': 6,
  reserve: 16,
  'prefill done': 12,
  'begin decode': 12,
  undelivered: 3,
  'first byte': 4,
  end: 5,
  time: 3,
};

const operation: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constantFrom(...operationKinds.flatMap((kind) => Array.from({ length: often[kind] ?? 1 }, () => kind))),
  at: fc.constantFrom(0, 0, 0, 1, 1, 2, 3),
  role: fc.constantFrom('prefill', 'prefill', 'prefill', 'decode', 'decode', 'decode', 'regular'),
  n: fc.nat(15),
  flag: fc.boolean(),
});

/** Most histories would never place a request if they began with nothing. */
const beginning: readonly Operation[] = [
  { kind: 'join', at: 0, role: 'prefill', n: 7, flag: true },
  { kind: 'join', at: 1, role: 'decode', n: 7, flag: true },
  { kind: 'join', at: 0, role: 'decode', n: 7, flag: true },
];

describe('any history of a cluster', () => {
  it.each(['nixl', 'p2p-nccl', 'auto'] as const)('keeps what must always hold, with connector %s', (connector) => {
    fc.assert(
      fc.property(fc.constantFrom(...policyNames), fc.array(operation, { minLength: 20, maxLength: 150, size: 'max' }), (policy, operations) => {
        const model = new ClusterModel(policy, connector);
        for (const each of [...beginning, ...operations]) model.do(each);
        model.finish();
      }),
      { seed: 20_261, numRuns: 80 * long },
    );
  });
});

describe('turns', () => {
  it('stay level among workers that come, go and return between cold requests', () => {
    const step = fc.record({ kind: fc.constantFrom('pick', 'pick', 'pick', 'drain', 'undrain', 'restart', 'evict', 'join'), host: fc.nat(4), n: fc.nat(40) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const kit = new ClusterKit();
        let instances = 0;
        for (const { kind, host, n } of steps) {
          const endpoint = `http://10.0.0.${host}:8000`;
          const worker = kit.find('regular', endpoint);
          if (kind === 'pick') {
            for (let request = 0; request < n; request += 1) {
              const requestKey = kit.open();
              const result = kit.reserve({ requestKey, shape: 'single' });
              if (result.kind === 'single') kit.end(result.grantId, 'succeeded');
              kit.close(requestKey);
            }
          } else if (kind === 'join') kit.join('regular', endpoint, { ttlMs: null });
          else if (kind === 'restart') kit.join('regular', endpoint, { ttlMs: null, instance: `${(instances += 1)}` });
          else if (kind === 'undrain') kit.cluster.operations.undrain('regular', endpoint, 'ops');
          else if (worker !== undefined && kind === 'drain') kit.drain(worker);
          else if (worker !== undefined) kit.evict(worker, { quarantineMs: 0 });
          const turns = [...kit.cluster.fleet.workers()].filter(({ selectable }) => selectable).map(({ turn }) => turn);
          if (turns.length > 1) expect(Math.max(...turns) - Math.min(...turns)).toBeLessThanOrEqual(1);
        }
      }),
      { seed: 20_262, numRuns: 60 * long },
    );
  });
});
