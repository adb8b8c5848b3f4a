import { discoverySourceContract } from './discovery-source.contract-suite.js';
import { StaticEngines, staticRegistrations } from './static-engines.js';

const one = { endpoint: 'http://10.0.0.1:8000', group: null, bootstrapPort: null };

discoverySourceContract('the static list', async () => ({
  source: new StaticEngines({ prefill: [one], decode: [one], regular: [] }),
  state: async () => undefined,
}));

it('takes roles from the flags, keeps the order and the group, and never expires', () => {
  const two = { endpoint: 'http://10.0.0.2:8000', group: 'blue', bootstrapPort: null };
  const registrations = staticRegistrations({ prefill: [two, one], decode: [one], regular: [two] });
  expect(registrations.map(({ role, endpoint, group }) => [role, endpoint, group])).toEqual([
    ['prefill', 'http://10.0.0.2:8000', 'blue'],
    ['prefill', 'http://10.0.0.1:8000', null],
    ['decode', 'http://10.0.0.1:8000', null],
    ['regular', 'http://10.0.0.2:8000', 'blue'],
  ]);
  expect(registrations.every(({ ttlMs, source }) => ttlMs === null && source === 'static')).toBe(true);
});

it('counts a repeated engine once', () => {
  expect(staticRegistrations({ prefill: [one, one], decode: [], regular: [] })).toHaveLength(1);
});

it('knows a Mooncake engine by its bootstrap port', () => {
  const connectors = staticRegistrations({ prefill: [{ ...one, bootstrapPort: 8998 }], decode: [one], regular: [] }).map(({ connector }) => connector);
  expect(connectors).toEqual([{ kind: 'mooncake', evidence: 'bootstrap' }, null]);
});
