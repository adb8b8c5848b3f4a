import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Database from 'libsql';

import { generationSource } from './generation-source.js';
import { MemoryStore } from './memory.store.js';
import { SqliteStore } from './sqlite.store.js';

describe('generationSource', () => {
  const dir = mkdtempSync(join(tmpdir(), 'switchyard-generations-'));
  const warnings: string[] = [];
  const time = { now: 0 };
  const clock = { monotonicMs: () => time.now, wallMs: () => 1_700_000_000_500 };
  const source = (store: SqliteStore | MemoryStore): (() => number) => generationSource({ store, clock, warn: (message) => warnings.push(message) });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('begins at the second of the start when nothing is remembered', () => {
    expect(source(new MemoryStore())()).toBe(1_700_000_000);
  });

  it('never repeats a number over restarts, counts on when the store fails, and reserves again when it works', () => {
    const first = new SqliteStore(dir);
    const next = source(first);
    expect([next(), next()]).toEqual([1, 2]);
    first.close();

    const second = new SqliteStore(dir);
    const more = source(second);
    expect(more()).toBe(1_001);
    for (let n = 1_002; n <= 2_000; n += 1) more();
    const other = new Database(join(dir, 'switchyard.db'));
    other.exec('BEGIN IMMEDIATE');
    expect(more()).toBe(2_001);
    expect(more()).toBe(2_002);
    expect(warnings).toEqual([expect.stringContaining('may repeat after a restart')]);
    other.exec('ROLLBACK');
    other.close();
    time.now += 1_000;
    expect(more()).toBe(2_003);
    expect(second.generationCeiling()).toBe(3_001);
    second.close();
    const third = new SqliteStore(dir);
    expect(source(third)()).toBe(3_001);
    third.close();
  });

  it('does not begin when the first numbers cannot be reserved', () => {
    const store = new SqliteStore(dir);
    const other = new Database(join(dir, 'switchyard.db'));
    other.exec('BEGIN IMMEDIATE');
    expect(() => source(store)).toThrow(/store cannot be written/);
    other.exec('ROLLBACK');
    other.close();
    store.close();
  });
});
