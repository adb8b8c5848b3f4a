import { msShown, percentShown } from './now-numbers.js';

describe('the numbers of now', () => {
  it.each([
    [0, '0'],
    [0.0015, '0.15'],
    [0.01, '1'],
    [0.2, '20'],
    [0.8486, '84.9'],
    [1, '100'],
  ])('the share %d is %s percent', (share, shown) => {
    expect(percentShown(share)).toBe(shown);
  });

  it.each([
    [0, '0'],
    [4.94, '4.9'],
    [60, '60'],
    [99.7, '100'],
    [1534.2, '1,534'],
  ])('%d ms is shown as %s', (ms, shown) => {
    expect(msShown(ms)).toBe(shown);
  });
});
