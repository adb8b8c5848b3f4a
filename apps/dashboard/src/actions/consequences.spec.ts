import { workerView } from '../testing/worker-view.js';
import { consequencesOf } from './consequences.js';

const texts = (...[targets, all]: Parameters<typeof consequencesOf>): string[] => consequencesOf(targets, all).map(({ text, isGrave }) => (isGrave ? `! ${text}` : text));

describe('the consequences of taking workers out', () => {
  const [a, b, c] = [workerView({ id: 'decode-1', load: 7, holds: { kvOut: 0, bound: 2 } }), workerView({ id: 'decode-2' }), workerView({ id: 'decode-3' })];

  it('tell the work on it and who remains', () => {
    expect(texts([a], [a, b, c])).toEqual(['7 requests in flight and 2 hand-offs will finish first.', '2 of 3 decode workers remain selectable.']);
  });

  it('are grave when a pool or a pairing group keeps nobody', () => {
    expect(texts([b, c], [b, c])).toEqual(['No request is on it now.', '! 0 of 2 decode workers remain selectable.']);
    const other = workerView({ id: 'decode-9', group: '0.12.0' });
    expect(texts([b], [b, other])).toEqual(['No request is on it now.', '1 of 2 decode workers remains selectable.', '! Pairing group 0.11.0 keeps no selectable decode worker.']);
  });
});
