import { EngineIdentity } from './engine-identity.js';

function identity() {
  let drawn = 0;
  const made = new EngineIdentity(() => String((drawn += 1)));
  /** A number is an answer with that start time, `null` an answer without one, `x` a refused connection. */
  const after = (...steps: (number | null | 'x')[]) => {
    for (const step of steps) {
      if (step === 'x') made.refused();
      else made.answered(step);
    }
    return made.instance;
  };
  return { made, after };
}

it('takes the name from the start time, and keeps it as long as that is the same', () => {
  const { made, after } = identity();
  expect(after(1_762_470_000.25)).toBe('started-1762470000250');
  expect(after(1_762_470_000.26, null, 1_762_470_001)).toBe('started-1762470000250');
  expect(made.startedAtSecs).toBe(1_762_470_000.25);
});

it('names another process when the start time is later, with or without a refusal seen', () => {
  expect(identity().after(1000, 1003)).toBe('started-1003000');
  expect(identity().after(1000, 'x', 1003)).toBe('started-1003000');
});

it('keeps the name through a refusal that was no restart', () => {
  expect(identity().after(1000, 'x', 1000)).toBe('started-1000000');
});

it('does not take a clock that was set back for a restart, but a refusal with another time', () => {
  expect(identity().after(1000, 900)).toBe('started-1000000');
  expect(identity().after(1000, 'x', 900)).toBe('started-900000');
});

it('draws a name only after a refusal', () => {
  const { after } = identity();
  expect(after(null, null)).toBeNull();
  expect(after('x', 'x', null)).toBe('drawn-1');
  expect(after(null, null)).toBe('drawn-1');
  expect(after('x', null)).toBe('drawn-2');
});

it('keeps a drawn name when the same process turns out to have a start time', () => {
  const { made, after } = identity();
  expect(after('x', null, 1000, 1000)).toBe('drawn-1');
  expect(made.startedAtSecs).toBe(1000);
  expect(after(1003)).toBe('started-1003000');
});

it('forgets the start time of a process that was refused and tells none after', () => {
  const { made, after } = identity();
  expect(after(1000, 'x', null)).toBe('drawn-1');
  expect(made.startedAtSecs).toBeNull();
});
