import { until } from '../testing/proxy-harness.js';
import { CoarseWheel, Deadline } from './coarse-wheel.js';

describe('the wheel', () => {
  const entry = (deadlineMs: number, fired: number[]) => new Deadline(deadlineMs, () => fired.push(performance.now()));

  it('fires each entry once, after its deadline and soon', async () => {
    const wheel = new CoarseWheel();
    const fired: number[] = [];
    const deadlines = [5, 30, 90, 91].map((delay) => performance.now() + delay);
    for (const deadline of deadlines) wheel.start(entry(deadline, fired));
    await until(() => fired.length === 4, 'all fire');
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(fired).toHaveLength(4);
    fired.forEach((at, i) => expect(at).toBeGreaterThanOrEqual(deadlines[i]!));
  });

  it('follows a deadline that was moved later, and one that was stopped not at all', async () => {
    const wheel = new CoarseWheel();
    const fired: number[] = [];
    const moved = entry(performance.now() + 20, fired);
    const stopped = entry(performance.now() + 20, fired);
    wheel.start(moved);
    wheel.start(stopped);
    moved.deadlineMs += 150;
    wheel.stop(stopped);
    await until(() => fired.length > 0, 'the moved one fires');
    expect(fired).toHaveLength(1);
    expect(fired[0]).toBeGreaterThanOrEqual(moved.deadlineMs);
  });

  it('keeps deadlines that lie beyond one turn', () => {
    let nowMs = 0;
    const wheel = new CoarseWheel(() => nowMs);
    const fired: number[] = [];
    const far = entry(60_000, fired);
    wheel.start(far);
    nowMs = 59_000;
    expect(wheel.coarseNowMs).toBe(0);
    wheel.stop(far);
    expect(fired).toEqual([]);
  });
});
