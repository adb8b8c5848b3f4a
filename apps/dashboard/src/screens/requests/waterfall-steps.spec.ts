import type { AttemptView, ReceiptView } from '@switchyard/core/contracts';

import { waterfallSteps } from './waterfall-steps.js';

const attempt = (phase: AttemptView['phase'], outcome: string | null): AttemptView => ({ phase, candidates: [], chosen: 'x', reason: 'random', margin: null, outcome });
const divided = [attempt('prefill', 'ok'), attempt('decode', 'ok')];
const times = (fields: Partial<ReceiptView['timings']>): ReceiptView['timings'] => ({ queuedMs: null, prefillMs: null, handoffMs: null, firstByteMs: null, totalMs: null, ...fields });

describe('the steps of a request', () => {
  it('lie behind each other without gaps and end with the request', () => {
    const timings = times({ queuedMs: 5, prefillMs: 40, handoffMs: 2, firstByteMs: 60, totalMs: 200 });
    const steps = waterfallSteps({ timings, state: 'recent', attempts: divided }, 0);
    expect(steps.map(({ kind, startMs, lengthMs }) => [kind, startMs, lengthMs])).toEqual([
      ['queue', 0, 5],
      ['prefill', 5, 40],
      ['handoff', 45, 2],
      ['first', 47, 13],
      ['stream', 60, 140],
    ]);
    expect(steps.some(({ running }) => running)).toBe(false);
  });

  it('leave out prefill and hand-off when one worker did both', () => {
    const timings = times({ queuedMs: 1, firstByteMs: 10, totalMs: 20 });
    expect(waterfallSteps({ timings, state: 'recent', attempts: [attempt('single', 'ok')] }, 0).map(({ label }) => label)).toEqual(['Queue', 'First token', 'Answer']);
  });

  it('end with the one that runs, which grows with the age', () => {
    const timings = times({ queuedMs: 5, prefillMs: 40 });
    const steps = waterfallSteps({ timings, state: 'inflight', attempts: [attempt('prefill', 'ok')] }, 100);
    expect(steps.at(-1)).toMatchObject({ kind: 'handoff', startMs: 45, lengthMs: 55, running: true });
    expect(waterfallSteps({ timings: times({}), state: 'inflight', attempts: [] }, 30)).toEqual([{ kind: 'queue', label: 'Queue', startMs: 0, lengthMs: 30, running: true }]);
  });

  it('let decode run as soon as its first byte is told, though the hand-off is told at the end', () => {
    const timings = times({ queuedMs: 5, prefillMs: 40, firstByteMs: 60 });
    const steps = waterfallSteps({ timings, state: 'inflight', attempts: divided }, 100);
    expect(steps.map(({ label, startMs, lengthMs, running }) => [label, startMs, lengthMs, running])).toEqual([
      ['Queue', 0, 5, false],
      ['Prefill', 5, 40, false],
      ['Hand-off, first token', 45, 15, false],
      ['Decode', 60, 40, true],
    ]);
  });

  it('never reach beyond the end when clocks disagree by a little', () => {
    const timings = times({ queuedMs: 5, prefillMs: 40, handoffMs: 2, firstByteMs: 60, totalMs: 50 });
    const steps = waterfallSteps({ timings, state: 'recent', attempts: divided }, 0);
    for (const { startMs, lengthMs } of steps) expect(startMs + lengthMs).toBeLessThanOrEqual(50);
  });

  it('say that retries lie before the first token', () => {
    const timings = times({ queuedMs: 5, prefillMs: 40, handoffMs: 2, firstByteMs: 600, totalMs: 700 });
    const attempts = [attempt('prefill', 'ok'), attempt('decode', 'reset'), attempt('prefill', 'ok'), attempt('decode', 'ok')];
    expect(waterfallSteps({ timings, state: 'recent', attempts }, 0)[3]?.label).toBe('Retries, first token');
  });
});
