import { createHash, randomBytes } from 'node:crypto';

import { Injectable } from '@nestjs/common';
import { type AccessRole } from '@switchyard/core/contracts';
import { LRUCache } from 'lru-cache';

/** A browser that is not used for this long has to log in again. */
export const sessionMaxAgeSecs = 12 * 3600;
const mostSessions = 1_000;

/** Browser sessions. In memory: a restart of the router ends them. Ids are kept as digests only. */
@Injectable()
export class Sessions {
  readonly #endListeners = new Set<() => void>();
  readonly #roles = new LRUCache<string, AccessRole>({ max: mostSessions, ttl: sessionMaxAgeSecs * 1000, updateAgeOnGet: true });

  /** Returns the new session's id. */
  open(role: AccessRole): string {
    const id = randomBytes(32).toString('base64url');
    this.#roles.set(digest(id), role);
    return id;
  }

  roleOf(id: string): AccessRole | null {
    return this.#roles.get(digest(id)) ?? null;
  }

  /** Tells from now on whether the session is still open; asking does not keep it open. */
  watch(id: string): () => boolean {
    const key = digest(id);
    return () => this.#roles.has(key);
  }

  close(id: string): void {
    this.#roles.delete(digest(id));
    for (const listener of this.#endListeners) listener();
  }

  /** `listener` is told that some session was closed. */
  onClosed(listener: () => void): void {
    this.#endListeners.add(listener);
  }
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
