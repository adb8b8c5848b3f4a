import { discoverySourceContract } from './discovery-source.contract-suite.js';
import { StaticEngines, staticRegistrations } from './static-engines.js';

const one = { endpoint: 'http://10.0.0.1:8000', group: null };

discoverySourceContract('the static list', async () => ({
  source: new StaticEngines({ prefill: [one], decode: [one], regular: [] }),
  state: async () => undefined,
}));

it('takes roles from the flags, keeps the order and the group, and never expires', () => {
  const two = { endpoint: 'http://10.0.0.2:8000', group: 'blue' };
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
