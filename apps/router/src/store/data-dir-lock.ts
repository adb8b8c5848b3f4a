import { join } from 'node:path';

import Database from 'libsql';

/**
 * Claims a data directory for this process, by an exclusive lock on a database of its own. The kernel lets go of it
 * however the process ends, and the store itself stays readable for backups.
 */
export class DataDirLock {
  readonly #database: Database.Database;
  #held = true;

  /** Throws when somebody holds it, with code `SQLITE_BUSY`, or when the directory cannot be written. */
  constructor(dataDir: string) {
    this.#database = new Database(join(dataDir, 'lock.db'), { timeout: 0 });
    try {
      this.#database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Idempotent. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    // Closing alone leaves the transaction, and with it the lock, to the garbage collector.
    this.#database.exec('ROLLBACK');
    this.#database.close();
  }
}
