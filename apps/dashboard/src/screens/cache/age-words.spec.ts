import { ageWords } from './age-words.js';

describe('an age in words', () => {
  it.each([
    [0, 'now'],
    [999, 'now'],
    [1000, '1 s ago'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [7_200_000, '2 h ago'],
    [200_000_000, '2 d ago'],
  ])('%d ms: %s', (ageMs, words) => {
    expect(ageWords(ageMs)).toBe(words);
  });
});
