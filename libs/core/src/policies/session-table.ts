/** A worker's share of a session table. Dropping it (`live = false`) ends all its sessions at once. */
export interface SessionHome<W> {
  readonly worker: W;
  live: boolean;
  /** Sessions bound here and not expired. */
  sessions: number;
}

interface Session<W> {
  readonly key: string;
  home: SessionHome<W>;
  usedAtMs: number;
  older: Session<W> | null;
  newer: Session<W> | null;
}

/**
 * Sessions bound to homes, least recently used first out: bounded in number and in idle time. Every operation is O(1);
 * sessions past their time are dropped a few at a time, so that a silent night costs no pause in the morning.
 */
export class SessionTable<W> {
  readonly #maxSessions: number;
  readonly #ttlMs: number;
  readonly #sessions = new Map<string, Session<W>>();
  #oldest: Session<W> | null = null;
  #newest: Session<W> | null = null;

  constructor(maxSessions: number, ttlMs: number) {
    this.#maxSessions = maxSessions;
    this.#ttlMs = ttlMs;
  }

  /** Sessions held, those of dropped homes included until their place is needed. */
  get size(): number {
    return this.#sessions.size;
  }

  /** The live home of `key`, `undefined` when it has none or has been idle for too long. */
  homeOf(key: string, nowMs: number): SessionHome<W> | undefined {
    const session = this.#sessions.get(key);
    if (session === undefined || !session.home.live || nowMs - session.usedAtMs >= this.#ttlMs) return undefined;
    return session.home;
  }

  /** Binds `key` to `home`, wherever it was before, and makes it the most recently used. */
  bind(key: string, home: SessionHome<W>, nowMs: number): void {
    let session = this.#sessions.get(key);
    if (session === undefined) {
      if (this.#sessions.size >= this.#maxSessions && this.#oldest !== null) this.#drop(this.#oldest);
      session = { key, home, usedAtMs: nowMs, older: null, newer: null };
      this.#sessions.set(key, session);
      home.sessions += 1;
    } else {
      this.#unlink(session);
      session.home.sessions -= 1;
      home.sessions += 1;
      session.home = home;
      session.usedAtMs = nowMs;
    }
    this.#linkNewest(session);
  }

  /** Drops at most `limit` sessions whose time has passed. */
  expire(nowMs: number, limit: number): void {
    for (let i = 0; i < limit && this.#oldest !== null && nowMs - this.#oldest.usedAtMs >= this.#ttlMs; i += 1) this.#drop(this.#oldest);
  }

  #drop(session: Session<W>): void {
    this.#unlink(session);
    this.#sessions.delete(session.key);
    session.home.sessions -= 1;
  }

  #unlink(session: Session<W>): void {
    if (session.older === null) this.#oldest = session.newer;
    else session.older.newer = session.newer;
    if (session.newer === null) this.#newest = session.older;
    else session.newer.older = session.older;
  }

  #linkNewest(session: Session<W>): void {
    session.older = this.#newest;
    session.newer = null;
    if (this.#newest === null) this.#oldest = session;
    else this.#newest.newer = session;
    this.#newest = session;
  }
}
