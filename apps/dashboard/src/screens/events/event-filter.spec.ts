import type { EventView } from '@switchyard/core/contracts';

import { allTypes, askedTypes, fits, noFilter, readFilter, typesOf, writeFilter } from './event-filter.js';

const drained: EventView = {
  eventSeq: 9,
  at: '2026-01-01T00:00:00.000Z',
  type: 'drain',
  role: 'decode',
  endpoint: 'http://10.0.0.1:8000',
  worker: 'decode-57',
  actor: 'operator',
  reason: 'firmware',
  detail: {},
};

describe('the filter of events', () => {
  it('survives its way through the address', () => {
    const filter = { kind: 'operators', type: 'drain', actor: 'operator', text: 'a & b' } as const;
    expect(readFilter(`?${writeFilter(filter)}`)).toEqual(filter);
    expect(readFilter('?kind=odd&type=odd')).toEqual(noFilter);
  });

  it('asks the router for the types of a kind, and each type belongs to one kind', () => {
    expect(askedTypes(noFilter)).toEqual([]);
    expect(askedTypes({ ...noFilter, kind: 'operators', type: 'evict' })).toEqual(['evict']);
    expect(askedTypes({ ...noFilter, kind: 'cluster' })).toContain('late');
    expect([...typesOf('cluster'), ...typesOf('operators')].sort()).toEqual([...allTypes].sort());
  });

  it('finds by worker, endpoint, reason and actor, all words of them', () => {
    for (const text of ['decode-57', '10.0.0.1', 'FIRMWARE', 'operator firmware']) expect(fits(drained, { ...noFilter, text })).toBe(true);
    expect(fits(drained, { ...noFilter, text: 'firmware prefill' })).toBe(false);
    expect(fits(drained, { ...noFilter, actor: 'somebody' })).toBe(false);
  });
});
