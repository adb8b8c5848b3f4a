import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Database from 'libsql';

import { EventLog } from './event-log.js';
import { SqliteStore } from './sqlite.store.js';

const clock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };
const everything = { after: 0, limit: 1_000, types: null };

describe('EventLog', () => {
  let dir: string;
  let store: SqliteStore;
  let warnings: string[];
  const openLog = (ringSize?: number): EventLog =>
    new EventLog({ store, clock, warn: (message) => warnings.push(message), ...(ringSize === undefined ? {} : { ringSize }) });

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'switchyard-events-'));
    store = new SqliteStore(dir);
    warnings = [];
  });
  afterEach(() => {
    store.close();
    rmSync(dir, { recursive: true });
  });

  it('numbers events on over restarts', () => {
    const first = openLog();
    first.append({ type: 'registered', detail: {} });
    first.append({ type: 'expired', detail: {} });
    first.flush();
    store.close();
    store = new SqliteStore(dir);
    const second = openLog();
    expect(second.newestSeq).toBe(2);
    second.append({ type: 'drain', actor: 'operator', detail: { until: 'restart' } });
    expect(second.read(everything).map(({ eventSeq, type }) => [eventSeq, type])).toEqual([
      [1, 'registered'],
      [2, 'expired'],
      [3, 'drain'],
    ]);
    expect(second.read({ ...everything, after: null, limit: 1 })).toEqual([
      { eventSeq: 3, atMs: expect.any(Number), type: 'drain', actor: 'operator', detail: { until: 'restart' } },
    ]);
  });

  it('writes in batches, and an act of an operator at once', async () => {
    const log = openLog();
    log.append({ type: 'registered', detail: {} });
    log.append({ type: 'health', detail: {} });
    expect(store.lastEventSeq()).toBe(0);
    for (const deadline = Date.now() + 5_000; store.lastEventSeq() < 2 && Date.now() < deadline; ) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(store.lastEventSeq()).toBe(2);
    log.append({ type: 'health', detail: {} });
    log.append({ type: 'evict', actor: 'operator', detail: {} });
    expect(store.lastEventSeq()).toBe(4);
  });

  it('answers from memory what is recent and from the store what is not', () => {
    const log = openLog(5);
    for (let n = 1; n <= 40; n += 1) log.append({ type: n % 2 === 0 ? 'health' : 'late', detail: { n } });
    expect(log.read({ after: 0, limit: 3, types: null }).map(({ eventSeq }) => eventSeq)).toEqual([1, 2, 3]);
    expect(log.read({ after: 38, limit: 3, types: null }).map(({ eventSeq }) => eventSeq)).toEqual([39, 40]);
    expect(log.read({ after: null, limit: 2, types: ['late'] }).map(({ eventSeq }) => eventSeq)).toEqual([37, 39]);
  });

  it('drops what the store refuses, says so once, and goes on', () => {
    const log = openLog();
    const other = new Database(join(dir, 'switchyard.db'));
    other.exec('BEGIN IMMEDIATE');
    for (let n = 0; n < 5; n += 1) log.append({ type: 'drain', actor: 'operator', detail: { n } });
    expect(warnings).toEqual([expect.stringContaining('1 events could not be kept in the store')]);
    other.exec('ROLLBACK');
    other.close();
    log.append({ type: 'undrain', actor: 'operator', detail: {} });
    expect(store.lastEventSeq()).toBe(6);
    expect(log.read(everything)).toHaveLength(6);
  });
});
