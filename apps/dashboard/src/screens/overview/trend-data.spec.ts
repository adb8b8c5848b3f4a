import { trendOf } from './trend-data.js';

describe('the points of a trend', () => {
  it('are means of five seconds, without what was not measured', () => {
    expect(trendOf(['rps'], { rps: [[10_000, 2], [11_000, null], [12_000, 4], [15_000, null], [20_000, 8]] })).toEqual({ at: [10, 15, 20], values: [[3, null, 8]] });
  });

  it('are the worst for what alarms', () => {
    expect(trendOf(['errorShare'], { errorShare: [[10_000, 0], [11_000, 0.5], [12_000, 0]] }).values).toEqual([[0.5]]);
  });

  it('of several series share the times of the first', () => {
    expect(trendOf(['ttftP50Ms', 'ttftP95Ms'], { ttftP50Ms: [[5000, 1], [10_000, 3]], ttftP95Ms: [[5000, 9]] })).toEqual({ at: [5, 10], values: [[1, 3], [9, null]] });
  });

  it('are none before there is history', () => {
    expect(trendOf(['rps'], undefined)).toEqual({ at: [], values: [[]] });
  });
});
