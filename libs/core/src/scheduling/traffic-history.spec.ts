import { seriesNames } from '../contracts/overview.schema.js';
import { durationBucket, durationBuckets, durationQuantile } from './duration-buckets.js';
import { type RequestRecord } from './request-log.js';
import { TrafficHistory } from './traffic-history.js';

function setUp() {
  const time = { monotonicMs: 5_000, wallMs: 1_700_000_005_000 };
  const clock = { monotonicMs: () => time.monotonicMs, wallMs: () => time.wallMs };
  const history = new TrafficHistory(clock);
  const pass = (ms: number): void => {
    time.monotonicMs += ms;
    time.wallMs += ms;
  };
  return { time, history, pass };
}

function record({ status = 200, outcome = 'ok', tokens = 10, firstByteMs = 100, promptBytes = 1_000, matched = 400 }): RequestRecord {
  return {
    requestKey: 1,
    requestId: 'r',
    route: '/v1/completions',
    model: 'm',
    stream: true,
    atMs: 0,
    openedAtMs: 0,
    attempts: [{ phase: 'prefill', chosenMatchBytes: matched }] as unknown as RequestRecord['attempts'],
    prefillId: null,
    decodeId: null,
    singleId: null,
    promptBytes,
    queuedMs: null,
    prefillMs: null,
    handoffMs: null,
    firstByteMs,
    closed: { status, outcome, usage: { promptTokens: 1, completionTokens: tokens }, reportedCachedTokens: null, totalMs: 1 },
  };
}

describe('durations by bucket', () => {
  it('give quantiles within 6 %', () => {
    for (const durations of [[3], [1, 2, 3, 4, 5], Array.from({ length: 1_000 }, (_, at) => 1.5 + at * 7), Array.from({ length: 500 }, () => 41)]) {
      const counts = new Float64Array(durationBuckets);
      for (const ms of durations) counts[durationBucket(ms)]! += 1;
      for (const q of [0.5, 0.95, 1]) {
        const exact = [...durations].sort((a, b) => a - b)[Math.ceil(durations.length * q) - 1]!;
        expect(Math.abs(durationQuantile(counts, q)! / exact - 1)).toBeLessThan(0.061);
      }
    }
  });

  it('take what is too short, too long or no number at all', () => {
    expect([0, 0.2, -5, Number.NaN].map(durationBucket)).toEqual([0, 0, 0, 0]);
    expect([1e9, Infinity].map(durationBucket)).toEqual([durationBuckets - 1, durationBuckets - 1]);
    expect(durationQuantile(new Float64Array(durationBuckets), 0.5)).toBeNull();
    const counts = new Float64Array(durationBuckets);
    counts[0] = 4;
    expect(durationQuantile(counts, 0.5)).toBeLessThan(1);
  });
});

describe('the history of the traffic', () => {
  it('has a point for each complete second that was lived, dated in wall time, ascending', () => {
    const { history, pass } = setUp();
    history.look(() => ({ inflight: 4, queued: 1 }));
    history.closed(record({}));
    history.closed(record({ status: 502, outcome: 'upstream_unreachable', tokens: 0, firstByteMs: 300, matched: 0 }));
    pass(1_000);
    history.look(() => ({ inflight: 2, queued: 0 }));
    pass(999);
    const series = history.series(60);
    expect(Object.keys(series)).toEqual([...seriesNames]);
    expect(series.rps).toEqual([[1_700_000_005_000, 2]]);
    expect(series.errorShare).toEqual([[1_700_000_005_000, 0.5]]);
    expect(series.inflight).toEqual([[1_700_000_005_000, 4]]);
    expect(series.queued).toEqual([[1_700_000_005_000, 1]]);
    expect(series.tokensPerSecond).toEqual([[1_700_000_005_000, 10]]);
    expect(series.hitRate).toEqual([[1_700_000_005_000, 0.2]]);
    expect(series.ttftP50Ms[0]![1]).toBeCloseTo(100, -1);
    expect(series.ttftP95Ms[0]![1]! / 300).toBeCloseTo(1, 1);
    pass(1);
    expect(history.series(60).rps).toEqual([[1_700_000_005_000, 2], [1_700_000_006_000, 0]]);
    expect(history.series(60).errorShare[1]).toEqual([1_700_000_006_000, null]);
    expect(history.series(1).rps).toEqual([[1_700_000_006_000, 0]]);
  });

  it('asks what is in flight once a second', () => {
    const { history, pass } = setUp();
    let asked = 0;
    for (let at = 0; at < 12; at += 1) {
      history.look(() => ({ inflight: (asked += 1), queued: 0 }));
      pass(250);
    }
    expect(asked).toBe(3);
  });

  it('leaves a gap where the router could not look', () => {
    const { history, pass } = setUp();
    history.look(() => ({ inflight: 1, queued: 0 }));
    pass(10_000);
    history.look(() => ({ inflight: 1, queued: 0 }));
    pass(1_000);
    expect(history.series(900).inflight.map(([at]) => at)).toEqual([1_700_000_005_000, 1_700_000_015_000]);
  });

  it('keeps 15 minutes by the second, a day by the minute, and nothing beyond', () => {
    const { history, pass } = setUp();
    for (let second = 0; second < 26 * 3_600; second += 1) {
      history.look(() => ({ inflight: second % 60 === 0 ? 60 : 0, queued: 0 }));
      if (second % 2 === 0) history.closed(record({}));
      pass(1_000);
    }
    const fine = history.series(900);
    expect(fine.rps).toHaveLength(900);
    expect(fine.rps.slice(-2).map(([, value]) => value).sort()).toEqual([0, 1]);
    const day = history.series(86_400);
    expect(day.rps).toHaveLength(1_440);
    expect(day.rps.every(([, value]) => value === 0.5)).toBe(true);
    expect(day.inflight.every(([, value]) => Math.abs(value! - 1) < 0.05)).toBe(true);
    expect(day.rps.every(([at], index) => index === 0 || at - day.rps[index - 1]![0] === 60_000)).toBe(true);
    expect(history.series(901).rps).toHaveLength(16);
  });

  it('averages the present over the window that is asked for, or over its life when that is shorter', () => {
    const { history, pass } = setUp();
    for (let at = 0; at < 10; at += 1) history.closed(record({}));
    expect(history.rates().rps).toBe(10);
    pass(4_000);
    expect(history.rates().rps).toBe(2.5);
    pass(116_000);
    expect(history.rates()).toEqual({ rps: 0, errorShare: null, ttftMs: { p50: null, p95: null }, tokensPerSecond: 0, hitRate: null });
    expect(history.rates(600)).toMatchObject({ rps: 10 / 120, errorShare: 0, hitRate: 0.4 });
    pass(1_880_000);
    expect(history.rates(3_600).rps).toBeCloseTo(10 / 2_000);
  });

  it('does not hold clients to account for their own faults or leaving, but for being turned away', () => {
    const { history } = setUp();
    for (const [status, outcome] of [[400, 'engine_error'], [200, 'client_gone'], [404, 'model_not_found']] as const) history.closed(record({ status, outcome }));
    expect(history.rates().errorShare).toBe(0);
    history.closed(record({ status: 429, outcome: 'queue_full' }));
    expect(history.rates().errorShare).toBe(0.25);
  });

  it('is not led astray by a wall clock that is set back', () => {
    const { history, time, pass } = setUp();
    history.look(() => ({ inflight: 1, queued: 0 }));
    pass(1_000);
    time.wallMs -= 3_600_000;
    history.look(() => ({ inflight: 1, queued: 0 }));
    pass(1_000);
    const ats = history.series(60).rps.map(([at]) => at);
    expect(ats[1]! - ats[0]!).toBe(1_000);
  });
});
