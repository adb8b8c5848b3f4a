import { engineSays, workerView } from '../testing/worker-view.js';
import { ledgerOf } from './load-ledger.js';

const drift = (load: number, running: number, waiting = 0, ageMs = 1000): boolean | undefined =>
  ledgerOf(workerView({ id: 'decode-1', load, engine: engineSays(running, waiting, ageMs) }))?.isDrifting;

describe('the load ledger', () => {
  it('is none when the engine says nothing', () => {
    expect(ledgerOf(workerView({ id: 'decode-1' }))).toBeNull();
  });

  it('tells drift from numbers that were taken moments apart', () => {
    expect(drift(4, 6)).toBe(false);
    expect(drift(100, 80)).toBe(false);
    expect(drift(4, 5, 4)).toBe(true);
    expect(drift(100, 60)).toBe(true);
  });

  it('does not judge by old numbers', () => {
    expect(drift(4, 50, 0, 60_000)).toBe(false);
  });
});
