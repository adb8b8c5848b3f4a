import type { AttemptView, RequestView } from '@switchyard/core/contracts';

import { attemptOutcomeOf, choiceSentence, outcomeOf, predictionSentence } from './receipt-words.js';

type Candidate = AttemptView['candidates'][number];
const candidate = (id: string, fields: Partial<Candidate> = {}): Candidate => ({ id, load: 0, pressure: 0, turn: 0, processed: 0, matchBytes: 0, score: null, ...fields });
const attempt = (reason: AttemptView['reason'], margin: number | null, candidates: readonly Candidate[]): AttemptView => ({
  phase: 'prefill',
  chosen: 'a',
  reason,
  margin,
  outcome: null,
  candidates: [...candidates],
});

describe('the sentence of a choice', () => {
  it('tells how much of the prompt the chosen worker holds, and how much more than the next', () => {
    const others = [candidate('a', { matchBytes: 2048, score: 0.8 }), candidate('b', { matchBytes: 1024, score: 0.4 })];
    expect(choiceSentence(attempt('affinity', 1024, others))).toBe('a already holds 2 KiB of this prompt (80 %), 1 KiB more than the next.');
    expect(choiceSentence(attempt('affinity', 2048, others))).toContain('no other candidate holds any of it');
    expect(choiceSentence(attempt('affinity', 0, others))).toContain('as much as the next');
  });

  it('names the best match that was too little', () => {
    const others = [candidate('a', { pressure: 1 }), candidate('b', { pressure: 3, score: 0.12 })];
    expect(choiceSentence(attempt('no_match', 2, others))).toBe(
      'No candidate holds enough of this prompt (12 % at best), so it went to the least busy one: a, with pressure 1, 2 less than the next.',
    );
  });

  it('tells the span of an imbalance, without the excluded', () => {
    const others = [candidate('a', { pressure: 1 }), candidate('b', { pressure: 14 }), candidate('c', { pressure: 99, excluded: 'draining' })];
    expect(choiceSentence(attempt('imbalance', 13, others))).toContain('(pressure 1 to 14)');
  });

  it('tells the two that were drawn, not a third', () => {
    const others = [candidate('c', { pressure: 0 }), candidate('b', { pressure: 2, score: 2 }), candidate('a', { pressure: 1, score: 1 })];
    expect(choiceSentence(attempt('power_of_two', 1, others))).toBe('a (pressure 1) and b (pressure 2) were drawn at random; a was less busy by 1.');
    expect(choiceSentence(attempt('power_of_two', 0, others))).toContain('turn came first');
  });

  it('counts who was excluded when there was no choice', () => {
    expect(choiceSentence(attempt('only_candidate', null, [candidate('a')]))).toBe('a was the only worker of its pool.');
    expect(choiceSentence(attempt('only_candidate', null, [candidate('a'), candidate('b', { excluded: 'gated' })]))).toContain('the other 1 worker was excluded');
  });

  it.each(['least_load', 'random', 'round_robin', 'hash', 'session', 'pd_fallback', 'pd_bypass'] as const)('names the worker for %s', (reason) => {
    expect(choiceSentence(attempt(reason, null, [candidate('a'), candidate('b')]))).toMatch(/\ba\b.*\.$/);
  });

  it('does without the candidates once they are not kept any more', () => {
    expect(choiceSentence(attempt('affinity', 10, []))).toBe('a already holds a part of this prompt, 10 B more than the next.');
    expect(choiceSentence(attempt('power_of_two', 1, []))).toContain('two candidates drawn at random');
  });
});

describe('the outcome', () => {
  const request: RequestView = {
    requestId: 'r',
    at: '2026-01-01T00:00:00.000Z',
    route: '/v1/completions',
    model: null,
    stream: false,
    state: 'inflight',
    status: null,
    prefillId: null,
    decodeId: null,
    singleId: null,
    totalMs: null,
    firstByteMs: null,
    outcome: null,
  };

  it('follows a request on its way', () => {
    expect(outcomeOf(request).word).toBe('Queued');
    expect(outcomeOf({ ...request, prefillId: 'p' }).word).toBe('Prefill');
    expect(outcomeOf({ ...request, prefillId: 'p', decodeId: 'd' }).word).toBe('Waiting for first token');
    expect(outcomeOf({ ...request, singleId: 's', firstByteMs: 3 })).toEqual({ tone: 'running', word: 'Streaming' });
  });

  it('tells good, neutral and bad ends apart', () => {
    const ended = { ...request, state: 'recent' } as const;
    expect(outcomeOf({ ...ended, outcome: 'ok' }).tone).toBe('good');
    expect(outcomeOf({ ...ended, outcome: 'client_gone' }).tone).toBe('neutral');
    expect(outcomeOf({ ...ended, outcome: 'engine_error', status: 400 })).toEqual({ tone: 'bad', word: 'Engine error 400' });
    expect(outcomeOf({ ...ended, outcome: 'no_available_workers', status: 503 })).toEqual({ tone: 'bad', word: 'No available workers' });
    expect(attemptOutcomeOf('status 500')).toEqual({ tone: 'bad', word: 'Status 500' });
    expect(attemptOutcomeOf('cancelled').tone).toBe('neutral');
  });
});

describe('prediction and report', () => {
  const said = (predictedCachedTokens: number | null, reportedCachedTokens: number | null): string | null =>
    predictionSentence({ predictedCachedTokens, reportedCachedTokens } as Parameters<typeof predictionSentence>[0]);

  it('compares them, and says nothing of what the engine did not tell', () => {
    expect(said(10, null)).toBeNull();
    expect(said(null, 4)).toContain('4 tokens');
    expect(said(4, 4)).toContain('exactly');
    expect(said(10, 4)).toContain('6 fewer');
    expect(said(4, 10)).toContain('6 more');
  });
});
