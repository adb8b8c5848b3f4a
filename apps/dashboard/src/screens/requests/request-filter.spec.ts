import type { RequestView } from '@switchyard/core/contracts';

import { fits, noFilter, readFilter, requestsPath, writeFilter } from './request-filter.js';

const request: RequestView = {
  requestId: 'chatcmpl-AB12',
  at: '2026-01-01T00:00:00.000Z',
  route: '/v1/chat/completions',
  model: 'llama',
  stream: true,
  state: 'recent',
  status: 503,
  prefillId: 'prefill-1',
  decodeId: null,
  singleId: null,
  totalMs: 3,
  firstByteMs: null,
  outcome: 'no_available_workers',
};

describe('the filter of requests', () => {
  it('survives its way through the address', () => {
    const filter = { state: 'recent', outcome: 'bad', worker: 'prefill-1', model: 'a&b=c %2F', text: 'x y' } as const;
    expect(readFilter(`?${writeFilter(filter)}`)).toEqual(filter);
    expect(writeFilter(noFilter)).toBe('');
    expect(readFilter('?state=nonsense&outcome=odd')).toEqual(noFilter);
  });

  it('leaves to the router what the router can filter', () => {
    expect(requestsPath({ ...noFilter, state: 'inflight', worker: 'prefill-1', model: 'a b', text: 'zzz' }, 200)).toBe('/api/v1/requests?limit=200&state=inflight&worker=prefill-1&model=a+b');
  });

  it('finds by id, model, status, worker and outcome, in any case', () => {
    for (const text of ['ab12', 'LLAMA', '503', 'prefill-1', 'no available', ' chat ']) expect(fits(request, { ...noFilter, text })).toBe(true);
    expect(fits(request, { ...noFilter, text: 'decode' })).toBe(false);
  });

  it('tells outcomes apart', () => {
    expect(fits(request, { ...noFilter, outcome: 'bad' })).toBe(true);
    expect(fits(request, { ...noFilter, outcome: 'good' })).toBe(false);
    expect(fits({ ...request, state: 'inflight' }, { ...noFilter, outcome: 'bad' })).toBe(false);
  });
});
