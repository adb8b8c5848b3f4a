import { niceTicks } from './nice-ticks.js';

describe('the marks of a time axis', () => {
  it.each([0.01, 0.4, 1, 7, 99, 1000, 1264, 59_999, 3_600_000])('are round, a few, and none lies beyond %d ms', (totalMs) => {
    const { ticks, endMs } = niceTicks(totalMs);
    expect(ticks[0]).toBe(0);
    expect(ticks.length).toBeGreaterThanOrEqual(3);
    expect(ticks.length).toBeLessThanOrEqual(8);
    expect(ticks.at(-1)).toBeLessThanOrEqual(totalMs);
    expect(endMs).toBeGreaterThanOrEqual(totalMs);
  });
});
