import { createHash, randomBytes } from 'node:crypto';

import { Inject, Injectable } from '@nestjs/common';
import { StoreUnavailableError } from '@switchyard/core';
import { type AccessRole } from '@switchyard/core/contracts';
import { LRUCache } from 'lru-cache';

import { STORE } from '../../store/store.module.js';
import { type Store } from '../../store/store.js';
import { AdminTokens } from './admin-tokens.js';

/** A browser has to log in again after this long. */
export const sessionMaxAgeSecs = 12 * 3600;
const mostSessions = 1_000;
const roles: readonly AccessRole[] = ['operator', 'viewer'];

/**
 * Browser sessions. They outlive a restart of the router, but not a change of the token they were had for: what is kept
 * of one is a digest of its id and that token.
 */
@Injectable()
export class Sessions {
  readonly #tokens: AdminTokens;
  readonly #store: Pick<Store, 'saveSession' | 'deleteSession'>;
  readonly #closeListeners = new Set<() => void>();
  /** Expiry by key, in Unix milliseconds. */
  readonly #expiries = new LRUCache<string, number>({ max: mostSessions });

  constructor(@Inject(AdminTokens) tokens: AdminTokens, @Inject(STORE) store: Store) {
    this.#tokens = tokens;
    this.#store = store;
    for (const { key, expiresAtMs } of store.liveSessions(Date.now())) this.#expiries.set(key, expiresAtMs);
  }

  /** Returns the new session's id. It lasts as long as this process where the store cannot keep it. */
  open(role: AccessRole): string {
    const id = randomBytes(32).toString('base64url');
    const key = this.#key(id, role);
    if (key === null) throw new Error(`a session for a ${role}, who has no token`);
    const expiresAtMs = Date.now() + sessionMaxAgeSecs * 1000;
    this.#expiries.set(key, expiresAtMs);
    this.#unlessUnavailable(() => this.#store.saveSession({ key, expiresAtMs }));
    return id;
  }

  roleOf(id: string): AccessRole | null {
    return roles.find((role) => this.#isOpen(this.#key(id, role))) ?? null;
  }

  /** Tells from now on whether the session is still open. */
  watch(id: string): () => boolean {
    const keys = roles.map((role) => this.#key(id, role));
    return () => keys.some((key) => this.#isOpen(key));
  }

  /** Ends the session; `false` when the store could not forget it, so that it would be open again after a restart. */
  close(id: string): boolean {
    const keys = roles.map((role) => this.#key(id, role)).filter((key) => key !== null && this.#expiries.delete(key));
    for (const listener of this.#closeListeners) listener();
    return keys.every((key) => key === null || this.#unlessUnavailable(() => this.#store.deleteSession(key)));
  }

  /** `listener` is told that some session was closed. */
  onClosed(listener: () => void): void {
    this.#closeListeners.add(listener);
  }

  #isOpen(key: string | null): boolean {
    return key !== null && (this.#expiries.get(key) ?? 0) > Date.now();
  }

  #key(id: string, role: AccessRole): string | null {
    const token = this.#tokens.digestOf(role);
    return token === null ? null : createHash('sha256').update(token).update(role).update(id).digest('base64url');
  }

  #unlessUnavailable(act: () => void): boolean {
    try {
      act();
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailableError) return false;
      throw error;
    }
  }
}
