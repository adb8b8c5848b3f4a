import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { StartError } from '../start-error.js';
import { MemoryStore } from './memory.store.js';
import { SqliteStore } from './sqlite.store.js';
import { storeFailure } from './store-failure.js';
import { type Store } from './store.js';

/** Opens the store in `dataDir`, or one that keeps nothing for `memory`; throws `StartError` when it cannot be had. */
export function openStore(dataDir: string): Store {
  if (dataDir === 'memory') return new MemoryStore();
  try {
    makeDirectory(dataDir);
    const store = new SqliteStore(dataDir);
    // Entries that cannot be understood are found out now as well.
    store.load();
    return store;
  } catch (error) {
    if (isBusy(error)) throw new StartError(`--data-dir ${dataDir} is in use by another switchyard process: give each its own`);
    throw new StartError(`--data-dir ${dataDir} cannot be used: ${storeFailure(error)}`);
  }
}

function isBusy(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_BUSY';
}

/** As `mkdir -p`. Node's own recursion never returns where a parent that is there answers ENOENT, as in /proc. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    makeDirectory(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}
