import { mkdirSync } from 'node:fs';

import { StartError } from '../cli/start-error.js';
import { MemoryStore } from './memory.store.js';
import { SqliteStore } from './sqlite.store.js';
import { storeFailure } from './store-failure.js';
import { type Store } from './store.js';

/** Opens the store in `dataDir`, or one that keeps nothing for `memory`; throws `StartError` when it cannot be had. */
export function openStore(dataDir: string): Store {
  if (dataDir === 'memory') return new MemoryStore();
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
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
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
}
