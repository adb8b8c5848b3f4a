import { statSync } from 'node:fs';
import { join } from 'node:path';

import { type DrainIntent, type OperatorState, type QuarantineEntry, type Registration, type Role, StoreUnavailableError } from '@switchyard/core';
import Database from 'libsql';
import { z } from 'zod';

import { DataDirLock } from './data-dir-lock.js';
import { migrate } from './migrations.js';
import { type EventQuery, keptEvents, type NumberedEvent, type Store, type StoredSession } from './store.js';
import { storedDrain, storedEvent, storedQuarantine, storedRegistration } from './stored-entry.schema.js';

type EntryTable = 'drains' | 'quarantine' | 'added_workers';

/** How long an operator's write waits for somebody else's lock; it holds up the whole process. */
const intentLockWaitMs = 100;
/** Where generations begin in an empty store. */
const firstGeneration = 1;

/**
 * The embedded store: one SQLite database in WAL form. Two connections, because what operators wish must be on the
 * disk when the call returns, while events need not be and must not cost a sync each.
 */
export class SqliteStore implements Store {
  readonly #path: string;
  readonly #inode: number;
  readonly #lock: DataDirLock;
  readonly #intents: Database.Database;
  readonly #events: Database.Database;
  readonly #insertEvent: Database.Statement;
  readonly #trimEvents: Database.Statement;
  readonly #keptEvents: number;
  #open = true;

  /** Opens or creates the store in `dataDir`, which exists; throws when it is in use, unreadable or unwritable. */
  constructor(dataDir: string, kept = keptEvents) {
    this.#path = join(dataDir, 'switchyard.db');
    this.#keptEvents = kept;
    this.#lock = new DataDirLock(dataDir);
    try {
      this.#intents = openDatabase(this.#path, 'FULL', intentLockWaitMs);
      migrate(this.#intents);
      this.#events = openDatabase(this.#path, 'NORMAL', 0);
      this.#insertEvent = this.#events.prepare('INSERT INTO events (event_seq, at_ms, type, event) VALUES (?, ?, ?, ?)');
      this.#trimEvents = this.#events.prepare('DELETE FROM events WHERE event_seq <= ?');
      this.#inode = statSync(this.#path).ino;
      // A store that cannot be written is found out now, not with the first operator's wish.
      inTransaction(this.#intents, () => {
        this.#intents.prepare(`INSERT INTO meta VALUES ('opened', 1) ON CONFLICT DO UPDATE SET value = value + 1`).run();
      });
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  load(): OperatorState {
    return {
      drains: this.#entries('drains', storedDrain),
      quarantine: this.#entries('quarantine', storedQuarantine),
      added: this.#entries('added_workers', storedRegistration),
    };
  }

  saveDrain(intent: DrainIntent): void {
    this.#save('drains', intent);
  }

  deleteDrain(role: Role, endpoint: string): void {
    this.#delete('drains', role, endpoint);
  }

  saveQuarantine(entry: QuarantineEntry): void {
    this.#save('quarantine', entry);
  }

  deleteQuarantine(role: Role, endpoint: string): void {
    this.#delete('quarantine', role, endpoint);
  }

  saveAdded(registration: Registration): void {
    this.#save('added_workers', registration);
  }

  deleteAdded(role: Role, endpoint: string): void {
    this.#delete('added_workers', role, endpoint);
  }

  generationCeiling(): number | null {
    return this.#try(() => {
      const row = this.#intents.prepare(`SELECT value FROM meta WHERE key = 'generation_ceiling'`).get();
      return (row as { readonly value: number } | undefined)?.value ?? firstGeneration;
    });
  }

  reserveGenerations(ceiling: number): void {
    this.#write(this.#intents, () => {
      this.#intents.prepare(`INSERT INTO meta VALUES ('generation_ceiling', ?) ON CONFLICT DO UPDATE SET value = excluded.value`).run(ceiling);
    });
  }

  lastEventSeq(): number {
    return this.#try(() => {
      const row = this.#events.prepare('SELECT max(event_seq) AS newest FROM events').get() as { readonly newest: number | null };
      return row.newest ?? 0;
    });
  }

  appendEvents(events: readonly NumberedEvent[]): void {
    const newest = events.at(-1);
    if (newest === undefined) return;
    this.#write(this.#events, () => {
      for (const { eventSeq, atMs, type, ...rest } of events) this.#insertEvent.run(eventSeq, atMs, type, JSON.stringify(rest));
      this.#trimEvents.run(newest.eventSeq - this.#keptEvents);
    });
  }

  readEvents({ after, limit, types }: EventQuery): NumberedEvent[] {
    const ofTypes = types === null ? '' : `AND type IN (${types.map(() => '?').join(', ')})`;
    const order = after === null ? 'DESC' : 'ASC';
    const sql = `SELECT event_seq, at_ms, type, event FROM events WHERE event_seq > ? ${ofTypes} ORDER BY event_seq ${order} LIMIT ?`;
    return this.#try(() => {
      const rows = this.#events.prepare(sql).all(after ?? 0, ...(types ?? []), limit) as EventRow[];
      const events = rows.map(({ event_seq: eventSeq, at_ms: atMs, type, event }) =>
        storedEvent.parse({ eventSeq, atMs, type, ...(JSON.parse(event) as object) }),
      );
      return after === null ? events.reverse() : events;
    });
  }

  saveSession({ key, expiresAtMs }: StoredSession): void {
    this.#write(this.#intents, () => {
      this.#intents.prepare('INSERT INTO sessions VALUES (?, ?) ON CONFLICT DO UPDATE SET expires_at_ms = excluded.expires_at_ms').run(key, expiresAtMs);
    });
  }

  deleteSession(key: string): void {
    this.#write(this.#intents, () => {
      this.#intents.prepare('DELETE FROM sessions WHERE key = ?').run(key);
    });
  }

  liveSessions(nowMs: number): StoredSession[] {
    this.#write(this.#intents, () => {
      this.#intents.prepare('DELETE FROM sessions WHERE expires_at_ms <= ?').run(nowMs);
    });
    return this.#try(() => this.#intents.prepare('SELECT key, expires_at_ms AS expiresAtMs FROM sessions').all() as StoredSession[]);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#events.close();
    this.#intents.close();
    this.#lock.release();
  }

  #entries<T>(table: EntryTable, schema: z.ZodType<T>): T[] {
    return this.#try(() => {
      const rows = this.#intents.prepare(`SELECT entry FROM ${table}`).all() as { readonly entry: string }[];
      return rows.map(({ entry }) => {
        const read = schema.safeParse(JSON.parse(entry));
        if (!read.success) throw new Error(`${table}: ${entry} is not an entry: ${z.prettifyError(read.error)}`);
        return read.data;
      });
    });
  }

  #save(table: EntryTable, entry: { readonly role: Role; readonly endpoint: string }): void {
    this.#write(this.#intents, () => {
      const sql = `INSERT INTO ${table} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET entry = excluded.entry`;
      this.#intents.prepare(sql).run(entry.role, entry.endpoint, JSON.stringify(entry));
    });
  }

  #delete(table: EntryTable, role: Role, endpoint: string): void {
    this.#write(this.#intents, () => {
      this.#intents.prepare(`DELETE FROM ${table} WHERE role = ? AND endpoint = ?`).run(role, endpoint);
    });
  }

  /** A database file that was deleted or replaced still takes writes, which nobody will ever read again. */
  #write(database: Database.Database, act: () => void): void {
    this.#try(() => {
      if (statSync(this.#path).ino !== this.#inode) throw new Error(`${this.#path} was replaced by another file`);
      inTransaction(database, act);
    });
  }

  #try<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw new StoreUnavailableError(error);
    }
  }
}

interface EventRow {
  readonly event_seq: number;
  readonly at_ms: number;
  readonly type: string;
  readonly event: string;
}

function openDatabase(path: string, synchronous: 'FULL' | 'NORMAL', lockWaitMs: number): Database.Database {
  const database = new Database(path, { timeout: lockWaitMs });
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
  return database;
}

/**
 * Every write runs in a transaction that is begun and ended by `exec`: libsql does not reset a prepared statement that
 * failed, and outside of one it would keep its lock and hold back the commits of later writes.
 */
function inTransaction(database: Database.Database, act: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    act();
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
