import type Database from 'libsql';

/** Step `n` brings a database from `user_version` n to n + 1. Steps are never changed once released, only added. */
const steps: readonly string[] = [
  `
  CREATE TABLE drains (role TEXT NOT NULL, endpoint TEXT NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (role, endpoint)) WITHOUT ROWID;
  CREATE TABLE quarantine (role TEXT NOT NULL, endpoint TEXT NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (role, endpoint)) WITHOUT ROWID;
  CREATE TABLE added_workers (role TEXT NOT NULL, endpoint TEXT NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (role, endpoint)) WITHOUT ROWID;
  CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
  CREATE TABLE events (event_seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, type TEXT NOT NULL, event TEXT NOT NULL);
  CREATE INDEX events_by_type ON events (type, event_seq);
  `,
  `CREATE TABLE sessions (key TEXT PRIMARY KEY, expires_at_ms INTEGER NOT NULL) WITHOUT ROWID;`,
];

/** Brings `database` to the newest form. Throws for one that a newer version of the router has written. */
export function migrate(database: Database.Database): void {
  const { user_version: from } = database.prepare('PRAGMA user_version').get() as { readonly user_version: number };
  if (from > steps.length) throw new Error(`it was written by a newer version of switchyard (form ${from}, this one knows ${steps.length})`);
  for (const [step, sql] of steps.entries()) {
    if (step < from) continue;
    database.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${step + 1}; COMMIT`);
  }
}
