import fc from 'fast-check';
import { WordArena } from './word-arena.js';

describe('word arena', () => {
  it('gives every allocation room of its own', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ words: fc.integer({ min: 1, max: 600 }), free: fc.boolean() }), { maxLength: 200 }), (steps) => {
        const arena = new WordArena();
        const live: { handle: number; words: number; mark: number }[] = [];
        steps.forEach(({ words, free }, mark) => {
          const handle = arena.allocate(words);
          expect(handle).toBeGreaterThan(0);
          expect(arena.sizeOf(handle)).toBeGreaterThanOrEqual(words);
          expect(arena.sizeOf(handle)).toBeLessThanOrEqual(Math.max(words, words * 1.25));
          arena.wordsOf(handle).fill(mark, arena.offsetOf(handle), arena.offsetOf(handle) + arena.sizeOf(handle));
          live.push({ handle, words, mark });
          if (free) arena.free(live.splice((mark * 7) % live.length, 1)[0]!.handle);
        });
        for (const { handle, words, mark } of live) {
          const start = arena.offsetOf(handle);
          expect(arena.wordsOf(handle).subarray(start, start + words).every((word) => word === mark)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('takes its largest size', () => {
    const arena = new WordArena();
    const handles = [arena.allocate(16_384), arena.allocate(16_384)];
    expect(new Set(handles.map((handle) => arena.wordsOf(handle))).size).toBe(2);
    expect(arena.wordsOf(handles[0]!)).toHaveLength(16_384);
  });

  it('gives pages back and uses freed room again', () => {
    const arena = new WordArena();
    const handles = Array.from({ length: 20_000 }, () => arena.allocate(10));
    const full = arena.bytes;
    expect(full).toBeLessThan(20_000 * 10 * 4 * 1.1);
    for (const handle of handles) arena.free(handle);
    expect(arena.bytes).toBeLessThan(full / 5);
    for (let i = 0; i < 20_000; i += 1) arena.allocate(10);
    expect(arena.bytes).toBeLessThan(full * 1.1);
    arena.free(0);
  });
});
