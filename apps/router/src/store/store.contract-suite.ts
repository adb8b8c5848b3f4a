import { type DrainIntent, type EventType, type OperatorState, type QuarantineEntry, type Registration } from '@switchyard/core';

import { type NumberedEvent, type Store } from './store.js';

export const drain: DrainIntent = {
  role: 'decode',
  endpoint: 'http://10.0.0.2:8000',
  sinceMs: 1_700_000_000_123,
  by: 'operator',
  reason: 'new "GPU"\nwith a line',
  until: 'restart',
  deadlineAtMs: 1_700_000_600_000,
  onDeadline: 'abort',
  overdue: false,
  facts: { zmqAddress: '10.0.0.2:14579', instance: null, startedAtSecs: 1_699_999_999.25 },
};

export const quarantined: QuarantineEntry = {
  role: 'prefill',
  endpoint: 'http://[fd00::1]:8000',
  sinceMs: 1_700_000_000_000,
  untilMs: null,
  by: 'operator',
  reason: 'bad link',
};

export const added: Registration = {
  source: 'admin',
  role: 'regular',
  endpoint: 'http://engine.example:8000',
  zmqAddress: null,
  instance: null,
  group: 'g1',
  connector: null,
  transferMode: null,
  startedAtSecs: null,
  models: ['a', 'b'],
  ttlMs: null,
};

export const emptyState: OperatorState = { drains: [], quarantine: [], added: [] };

export function event(eventSeq: number, type: EventType = 'registered'): NumberedEvent {
  return { eventSeq, atMs: 1_700_000_000_000 + eventSeq, type, role: 'decode', endpoint: drain.endpoint, detail: { n: eventSeq, why: null, ok: true } };
}

/** What every store must do; `open` gives a fresh one that keeps at most `kept` events. */
export function describeStore(name: string, open: (kept: number) => Store): void {
  describe(`${name} (store contract)`, () => {
    let store: Store;
    beforeEach(() => {
      store = open(20);
    });
    afterEach(() => store.close());

    it('begins empty', () => {
      expect(store.load()).toEqual(emptyState);
      expect(store.lastEventSeq()).toBe(0);
      expect(store.readEvents({ after: null, limit: 10, types: null })).toEqual([]);
    });

    it('keeps sessions until they expire or are ended', () => {
      for (const [key, expiresAtMs] of [['a', 100], ['b', 200], ['c', 300]] as const) store.saveSession({ key, expiresAtMs });
      store.deleteSession('b');
      store.deleteSession('nobody');
      expect(store.liveSessions(50).sort((x, y) => x.expiresAtMs - y.expiresAtMs)).toEqual([{ key: 'a', expiresAtMs: 100 }, { key: 'c', expiresAtMs: 300 }]);
      expect(store.liveSessions(100)).toEqual([{ key: 'c', expiresAtMs: 300 }]);
      expect(store.liveSessions(50)).toHaveLength(1);
    });

    it('gives back exactly what operators wished', () => {
      store.saveDrain(drain);
      store.saveQuarantine(quarantined);
      store.saveAdded(added);
      expect(store.load()).toEqual({ drains: [drain], quarantine: [quarantined], added: [added] });
    });

    it('replaces an entry of the same role and endpoint, and no other', () => {
      store.saveDrain(drain);
      store.saveDrain({ ...drain, role: 'prefill' });
      store.saveDrain({ ...drain, reason: null, overdue: true });
      const { drains } = store.load();
      expect(drains).toHaveLength(2);
      expect(drains).toContainEqual({ ...drain, reason: null, overdue: true });
      expect(drains).toContainEqual({ ...drain, role: 'prefill' });
    });

    it('deletes by role and endpoint, also what is not there', () => {
      store.saveDrain(drain);
      store.saveQuarantine(quarantined);
      store.saveAdded(added);
      store.deleteDrain('prefill', drain.endpoint);
      store.deleteQuarantine(quarantined.role, 'http://10.9.9.9:1');
      store.deleteAdded('decode', added.endpoint);
      expect(store.load()).toEqual({ drains: [drain], quarantine: [quarantined], added: [added] });
      store.deleteDrain(drain.role, drain.endpoint);
      store.deleteQuarantine(quarantined.role, quarantined.endpoint);
      store.deleteAdded(added.role, added.endpoint);
      expect(store.load()).toEqual(emptyState);
    });

    it('remembers the ceiling of generations', () => {
      store.reserveGenerations(1_001);
      store.reserveGenerations(2_001);
      expect(store.generationCeiling()).toBe(2_001);
    });

    it('reads events after a number, oldest first, or the newest ones', () => {
      store.appendEvents([event(1), event(2, 'drain'), event(3)]);
      store.appendEvents([]);
      store.appendEvents([event(4, 'drain')]);
      const seqs = (after: number | null, limit: number, types: EventType[] | null = null): number[] =>
        store.readEvents({ after, limit, types }).map(({ eventSeq }) => eventSeq);
      expect(store.lastEventSeq()).toBe(4);
      expect(seqs(null, 2)).toEqual([3, 4]);
      expect(seqs(0, 2)).toEqual([1, 2]);
      expect(seqs(2, 10)).toEqual([3, 4]);
      expect(seqs(4, 10)).toEqual([]);
      expect(seqs(0, 10, ['drain'])).toEqual([2, 4]);
      expect(seqs(null, 1, ['drain', 'registered'])).toEqual([4]);
      expect(store.readEvents({ after: 1, limit: 1, types: null })).toEqual([event(2, 'drain')]);
    });

    it('keeps the newest events only', () => {
      for (let seq = 1; seq <= 60; seq += 1) store.appendEvents([event(seq)]);
      const kept = store.readEvents({ after: 0, limit: 100, types: null });
      expect(kept).toHaveLength(20);
      expect(kept[0]!.eventSeq).toBe(41);
    });

    it('closes twice', () => {
      store.close();
      expect(() => store.close()).not.toThrow();
    });
  });
}
