import { ClusterKit } from '../testing/cluster-kit.contract-suite.js';
import { RequestLog, type RequestRecord } from './request-log.js';

const opened = (log: RequestLog, requestKey: number, requestId = `r-${requestKey}`): RequestRecord =>
  log.open({ requestKey, requestId, route: '/v1/completions', model: null, stream: false }, 1_000 + requestKey, requestKey);

const closed = { status: 200, outcome: 'ok', usage: null, reportedCachedTokens: null };

describe('RequestLog', () => {
  it('keeps the most recent closed requests, newest first, and tells which it drops', () => {
    const dropped: number[] = [];
    const log = new RequestLog(({ requestKey }) => dropped.push(requestKey), 3);
    for (let key = 1; key <= 7; key += 1) {
      opened(log, key);
      log.close(key, closed, key + 50);
      expect([...log.recentRequests()].map(({ requestKey }) => requestKey)).toEqual([key, key - 1, key - 2].filter((each) => each > 0));
    }
    expect(dropped).toEqual([1, 2, 3, 4]);
    expect(log.find('r-7')?.closed).toEqual({ ...closed, totalMs: 50 });
    expect(log.find('r-3')).toBeUndefined();
  });

  it('closes once', () => {
    const log = new RequestLog(() => undefined);
    opened(log, 1);
    expect(log.close(1, closed, 5)?.requestKey).toBe(1);
    expect(log.close(1, closed, 9)).toBeUndefined();
    expect([log.openCount, [...log.recentRequests()].length]).toEqual([0, 1]);
  });

  it('shows the newest of several requests with one id, open ones first', () => {
    const log = new RequestLog(() => undefined);
    for (const key of [1, 2, 3]) opened(log, key, 'same');
    log.close(3, closed, 9);
    expect(log.find('same')?.requestKey).toBe(2);
    log.close(1, closed, 10);
    log.close(2, closed, 11);
    expect(log.find('same')?.requestKey).toBe(2);
  });
});

describe('receipts', () => {
  it('keep their numbers as long as they can be seen, though storage is used again', () => {
    const kit = new ClusterKit();
    for (const host of [1, 2, 3]) kit.join('regular', `http://10.0.0.${host}:8000`, { source: 'static' });
    const requests = 2_200;
    for (let request = 0; request < requests; request += 1) {
      const requestKey = kit.open();
      const { grantId } = kit.reserveSingle({ requestKey });
      kit.end(grantId, 'succeeded');
      kit.close(requestKey);
    }
    const recent = [...kit.cluster.scheduler.requests.recentRequests()];
    expect(recent).toHaveLength(2_000);
    const processed = recent.map(({ attempts }) => attempts[0]?.candidates.reduce((sum, candidate) => sum + candidate.processed, 0));
    expect(processed).toEqual(recent.map((_record, back) => requests - 1 - back));
  });
});
