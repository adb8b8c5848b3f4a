import { ListeningClock } from './listening-clock.js';

describe('ListeningClock', () => {
  it('starts at zero, whatever the first tick says', () => {
    const clock = new ListeningClock();
    expect(clock.tick(123_456)).toBe(0);
  });

  it('follows ordinary ticks, and takes at most one step of a long pause', () => {
    const clock = new ListeningClock();
    clock.tick(1_000);
    expect(clock.tick(1_250)).toBe(250);
    expect(clock.tick(1_750)).toBe(750);
    expect(clock.tick(21_750)).toBe(1_250);
    expect(clock.tick(22_000)).toBe(1_500);
  });

  it('never goes back', () => {
    const clock = new ListeningClock();
    clock.tick(1_000);
    clock.tick(1_400);
    expect(clock.tick(900)).toBe(400);
    expect(clock.tick(1_000)).toBe(500);
  });
});
