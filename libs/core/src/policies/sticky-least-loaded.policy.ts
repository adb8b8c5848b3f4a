import { goesBefore, onlyCandidate, type Selection } from './placement-order.js';
import { type Policy, type PolicyRequest, type PolicyWorker } from './policy.js';
import { type SessionHome, SessionTable } from './session-table.js';

const sessionTtlMs = 7_200_000;
const maxSessions = 262_144;
/** Sessions expired a call; more than a call can add. */
const expirySteps = 64;

/**
 * A session stays on its worker; a new one goes to the worker with the fewest active sessions, then
 * (pressure, turn, index). A session whose worker is no candidate moves and stays where it moved to. Requests without
 * a session go where a new one would and bind nothing.
 */
export class StickyLeastLoadedPolicy<W extends PolicyWorker> implements Policy<W> {
  readonly name = 'sticky_least_loaded';
  readonly #nowMs: () => number;
  readonly #homes = new Map<W, SessionHome<W>>();
  readonly #sessions = new SessionTable<W>(maxSessions, sessionTtlMs);

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  join(worker: W): void {
    if (!this.#homes.has(worker)) this.#homes.set(worker, { worker, live: true, sessions: 0 });
  }

  leave(worker: W): void {
    const home = this.#homes.get(worker);
    if (home !== undefined) home.live = false;
    this.#homes.delete(worker);
  }

  forget(worker: W): void {
    if (!this.#homes.has(worker)) return;
    this.leave(worker);
    this.join(worker);
  }

  select(candidates: readonly W[], request: PolicyRequest): Selection<W> | undefined {
    const nowMs = this.#nowMs();
    this.#sessions.expire(nowMs, expirySteps);
    const scores = { matchBytes: () => 0, score: (worker: W) => this.#activeSessions(worker) };
    const [first] = candidates;
    if (first !== undefined && candidates.length === 1) return onlyCandidate(first, scores);
    const key = sessionKey(request);
    const home = key === null ? undefined : this.#sessions.homeOf(key, nowMs);
    if (home !== undefined && candidates.includes(home.worker)) return { worker: home.worker, reason: 'session', margin: null, scores };
    let best: W | undefined;
    let fewest = Infinity;
    for (const worker of candidates) {
      const active = this.#activeSessions(worker);
      if (best === undefined || active < fewest || (active === fewest && goesBefore(worker, best))) {
        best = worker;
        fewest = active;
      }
    }
    return best === undefined ? undefined : { worker: best, reason: 'least_load', margin: null, scores };
  }

  commit(worker: W, request: PolicyRequest): null {
    const key = sessionKey(request);
    const home = this.#homes.get(worker);
    if (key !== null && home !== undefined) this.#sessions.bind(key, home, this.#nowMs());
    return null;
  }

  #activeSessions(worker: W): number {
    return this.#homes.get(worker)?.sessions ?? 0;
  }
}

function sessionKey(request: PolicyRequest): string | null {
  return request.sessionKey === null ? null : `${request.model}\n${request.sessionKey}`;
}
