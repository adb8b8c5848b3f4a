import type { LiveSnapshot, OverviewNow, PoolsView } from '@switchyard/core/contracts';

import { workerView } from '../testing/worker-view.js';
import { pictureOf, withDelta } from './live-picture.js';

const pool = { total: 1, selectable: 1, load: 0, pressure: 0 };
const pools: PoolsView = { prefill: pool, decode: pool, regular: { ...pool, total: 0, selectable: 0 } };
const overview: OverviewNow = { rps: 1, inflight: 0, queued: 0, errorShare: null, ttftMs: { p50: null, p95: null }, tokensPerSecond: 0, hitRate: null };
const snapshot: LiveSnapshot = { seq: 7, state: { workers: [workerView({ id: 'prefill-1' }), workerView({ id: 'decode-2' })], pools, overview, handoffs: [] } };

describe('the live picture', () => {
  it('takes each kind of change and remembers when a worker was told', () => {
    const before = pictureOf(snapshot, 100);
    const after = withDelta(
      before,
      {
        from: 7,
        seq: 9,
        changes: [
          { op: 'set', worker: workerView({ id: 'decode-2', load: 3 }) },
          { op: 'set', worker: workerView({ id: 'decode-4' }) },
          { op: 'del', id: 'prefill-1' },
          { op: 'pools', pools: { ...pools, decode: { ...pool, load: 3 } } },
          { op: 'overview', overview: { ...overview, inflight: 3 } },
          { op: 'handoffs', handoffs: [{ requestId: 'r', prefillId: 'prefill-1', decodeId: null, stage: 'stranded', ageMs: 5, maxAgeMs: 30_000 }] },
        ],
      },
      250,
    );
    expect(after).toMatchObject({ seq: 9, overview: { inflight: 3 }, pools: { decode: { load: 3 } }, handoffsArrivedMs: 250 });
    expect([...(after?.workers.keys() ?? [])]).toEqual(['decode-2', 'decode-4']);
    expect(after?.workers.get('decode-2')?.load).toBe(3);
    expect(after?.arrivedMs).toEqual(new Map([['decode-2', 250], ['decode-4', 250]]));
    expect(after?.handoffs).toHaveLength(1);
  });

  it('leaves the picture before a delta as it was', () => {
    const before = pictureOf(snapshot, 100);
    withDelta(before, { from: 7, seq: 8, changes: [{ op: 'del', id: 'prefill-1' }, { op: 'set', worker: workerView({ id: 'decode-2', load: 9 }) }] }, 200);
    expect(before.workers.get('prefill-1')).toBeDefined();
    expect(before.workers.get('decode-2')?.load).toBe(0);
    expect(before.arrivedMs.get('decode-2')).toBe(100);
  });

  it('keeps workers that a delta does not name the same objects', () => {
    const before = pictureOf(snapshot, 100);
    const after = withDelta(before, { from: 7, seq: 8, changes: [{ op: 'set', worker: workerView({ id: 'decode-2' }) }] }, 200);
    expect(after?.workers.get('prefill-1')).toBe(before.workers.get('prefill-1'));
    const untouched = withDelta(before, { from: 7, seq: 8, changes: [{ op: 'overview', overview }] }, 200);
    expect(untouched?.workers).toBe(before.workers);
  });

  it('refuses a delta after a gap', () => {
    expect(withDelta(pictureOf(snapshot, 0), { from: 8, seq: 9, changes: [] }, 1)).toBeNull();
  });
});
