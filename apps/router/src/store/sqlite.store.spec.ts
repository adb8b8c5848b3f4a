import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { StoreUnavailableError } from '@switchyard/core';
import Database from 'libsql';

import { StartError } from '../start-error.js';
import { MemoryStore } from './memory.store.js';
import { openStore } from './open-store.js';
import { SqliteStore } from './sqlite.store.js';
import { added, describeStore, drain, emptyState, event, quarantined } from './store.contract-suite.js';

const folders: string[] = [];
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'switchyard-store-'));
  folders.push(path);
  return path;
}
afterAll(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

describeStore('SqliteStore', (kept) => new SqliteStore(folder(), kept));

describe('SqliteStore over restarts', () => {
  it('has everything again', () => {
    const dir = folder();
    const before = new SqliteStore(dir);
    before.saveDrain(drain);
    before.saveQuarantine(quarantined);
    before.saveAdded(added);
    before.reserveGenerations(5_001);
    before.appendEvents([event(1), event(2)]);
    before.close();

    const after = new SqliteStore(dir);
    expect(after.load()).toEqual({ drains: [drain], quarantine: [quarantined], added: [added] });
    expect(after.generationCeiling()).toBe(5_001);
    expect(after.lastEventSeq()).toBe(2);
    after.close();
  });

  it('begins generations at 1 in an empty store', () => {
    const store = new SqliteStore(folder());
    expect(store.generationCeiling()).toBe(1);
    store.close();
  });
});

describe('openStore', () => {
  it('gives a store that keeps nothing for memory', () => {
    expect(openStore('memory')).toBeInstanceOf(MemoryStore);
  });

  it('creates the directory', () => {
    const store = openStore(join(folder(), 'a', 'b'));
    expect(store.load()).toEqual(emptyState);
    store.close();
  });

  it('refuses a directory that is in use, and has it after the other has closed', () => {
    const dir = folder();
    const first = openStore(dir);
    expect(() => openStore(dir)).toThrow(new StartError(`--data-dir ${dir} is in use by another switchyard process: give each its own`));
    first.saveDrain(drain);
    first.close();
    const second = openStore(dir);
    expect(second.load().drains).toEqual([drain]);
    second.close();
  });

  it('has a directory whose process was killed', async () => {
    const dir = folder();
    const libsql = createRequire(import.meta.url).resolve('libsql');
    const script = `const Database = require(${JSON.stringify(libsql)});
      new Database(${JSON.stringify(join(dir, 'lock.db'))}).exec('BEGIN EXCLUSIVE');
      console.log('held'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    expect(() => openStore(dir)).toThrow(/in use by another/);
    child.kill('SIGKILL');
    await once(child, 'exit');
    openStore(dir).close();
  });

  it('says why it cannot use what is not a directory, not a database, or from the future', () => {
    const dir = folder();
    writeFileSync(join(dir, 'file'), '');
    expect(() => openStore(join(dir, 'file'))).toThrow(StartError);
    writeFileSync(join(dir, 'switchyard.db'), 'not a database '.repeat(1_000));
    expect(() => openStore(dir)).toThrow(/cannot be used: file is not a database/);
    rmSync(join(dir, 'switchyard.db'));
    const future = new Database(join(dir, 'switchyard.db'));
    future.exec('PRAGMA user_version = 99');
    future.close();
    expect(() => openStore(dir)).toThrow(/written by a newer version/);
    rmSync(join(dir, 'switchyard.db'));
    openStore(dir).close();
    const odd = new Database(join(dir, 'switchyard.db'));
    odd.exec(`INSERT INTO drains VALUES ('decode', 'x', '{"role":"decode"}')`);
    odd.close();
    expect(() => openStore(dir)).toThrow(/drains: \{"role":"decode"\} is not an entry/);
  });
});

describe('SqliteStore that cannot write', () => {
  it('refuses without a trace while the database is locked, and takes the next write', () => {
    const dir = folder();
    const store = new SqliteStore(dir);
    const other = new Database(join(dir, 'switchyard.db'));
    other.exec('BEGIN IMMEDIATE');
    expect(() => store.saveDrain(drain)).toThrow(StoreUnavailableError);
    expect(() => store.appendEvents([event(1)])).toThrow(StoreUnavailableError);
    expect(() => store.reserveGenerations(2_000)).toThrow(StoreUnavailableError);
    other.exec('ROLLBACK');
    other.close();
    expect(store.load()).toEqual(emptyState);
    expect(store.generationCeiling()).toBe(1);
    store.saveDrain(drain);
    store.appendEvents([event(1)]);
    expect(store.load().drains).toEqual([drain]);
    expect(store.lastEventSeq()).toBe(1);
    store.close();
  });

  it('refuses when the file was deleted or replaced behind its back', () => {
    const dir = folder();
    const store = new SqliteStore(dir);
    const path = join(dir, 'switchyard.db');
    renameSync(path, `${path}.away`);
    expect(() => store.saveDrain(drain)).toThrow(StoreUnavailableError);
    writeFileSync(path, '');
    expect(() => store.saveDrain(drain)).toThrow(StoreUnavailableError);
    rmSync(path);
    renameSync(`${path}.away`, path);
    store.saveDrain(drain);
    expect(store.load().drains).toEqual([drain]);
    store.close();
  });

  it('leaves no half of a batch of events', () => {
    const store = new SqliteStore(folder());
    store.appendEvents([event(2)]);
    expect(() => store.appendEvents([event(1), event(2)])).toThrow(StoreUnavailableError);
    expect(store.readEvents({ after: 0, limit: 10, types: null })).toEqual([event(2)]);
    store.appendEvents([event(3)]);
    expect(store.lastEventSeq()).toBe(3);
    store.close();
  });
});
