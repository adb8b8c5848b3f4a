import { HeartbeatHistory } from './heartbeat-history.js';

const ttlMs = 10_000;

function beats(...atMs: number[]): HeartbeatHistory {
  const history = new HeartbeatHistory();
  for (const at of atMs) history.beat(at, ttlMs);
  return history;
}

describe('HeartbeatHistory', () => {
  it('knows nothing before the first beat', () => {
    expect(beats().state(99_999, false)).toBe('none');
  });

  it('is late beyond half the TTL before three beats', () => {
    expect(beats(0, 1_000).state(6_000, false)).toBe('ok');
    expect(beats(0, 1_000).state(6_001, false)).toBe('late');
  });

  it('is late beyond one and a half median intervals from the third beat on', () => {
    const history = beats(0, 3_000, 6_000, 9_000, 30_000);
    expect(history.lateAfterMs).toBe(4_500);
    expect([history.state(34_500, false), history.state(34_501, false)]).toEqual(['ok', 'late']);
  });

  it('takes the middle of two medians, and of the last eight intervals only', () => {
    expect(beats(0, 1_000, 3_000).lateAfterMs).toBe(2_250);
    const history = beats(0, 9_000, 18_000, 27_000);
    for (let beat = 1; beat <= 8; beat += 1) history.beat(27_000 + beat * 1_000, ttlMs);
    expect(history.lateAfterMs).toBe(1_500);
  });

  it('does not call everything late after a burst within one tick', () => {
    expect(beats(5, 5, 5, 5).state(1_000, false)).toBe('ok');
  });

  it('is lost when its statement has expired, whatever its age', () => {
    expect(beats(0).state(1, true)).toBe('lost');
  });
});
