import { GenerationCounter } from './generation-counter.js';

describe('GenerationCounter', () => {
  it('reserves a ceiling before it gives a number below it', () => {
    const ceilings: number[] = [];
    const counter = new GenerationCounter(7, (ceiling) => ceilings.push(ceiling), 3);
    const given = [counter.next(), counter.next(), counter.next()];
    expect([given, ceilings]).toEqual([[7, 8, 9], [10]]);
    expect([counter.next(), ceilings]).toEqual([10, [10, 13]]);
  });

  it('goes on above everything that could have been given before a restart', () => {
    let stored = 1;
    const first = new GenerationCounter(stored, (ceiling) => (stored = ceiling));
    const given = first.next();
    expect(new GenerationCounter(stored, () => undefined).next()).toBeGreaterThan(given);
    expect(stored).toBe(1_001);
  });

  it('gives nothing when no ceiling can be reserved, and the same number once it can', () => {
    let failing = true;
    const counter = new GenerationCounter(5, () => {
      if (failing) throw new Error('disk full');
    });
    expect(() => counter.next()).toThrow('disk full');
    failing = false;
    expect(counter.next()).toBe(5);
  });
});
