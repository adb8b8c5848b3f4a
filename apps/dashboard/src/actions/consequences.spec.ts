import { workerView } from '../testing/worker-view.js';
import { consequencesFrom, consequencesOf } from './consequences.js';

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

  it('of one worker are what the router says', () => {
    const view = { action: 'drain' as const, leasesNow: 1, holdsNow: 0, poolSelectableBefore: 1, poolSelectableAfter: 0, poolTotal: 1, wouldStrand: { role: 'decode' as const, model: 'm', group: '*' } };
    expect(consequencesFrom(view, 'decode').map(({ text }) => text)).toEqual([
      '1 request in flight will finish first.',
      '0 of 1 decode worker remain selectable.',
      'No request for m could be placed any more: it is the last selectable decode worker of group *. The router will ask you to insist.',
    ]);
  });
});
