import { LRUCache } from 'lru-cache';
import { type RejectionReason } from './discovery-source.js';

/** What a rejection adds to the log: nothing, or a line that also speaks for `suppressed` earlier ones. */
export interface RejectionLine {
  readonly suppressed: number;
}

const windowMs = 60_000;
const rememberedSenders = 1024;
/** Senders can make up names without end; a reason gets this many lines a window, whoever sends. */
const linesPerReason = 20;

interface Account {
  since: number;
  lines: number;
  suppressed: number;
}

/** Decides which rejections are logged: once a minute per reason and sender, in bounded memory. O(1) a call. */
export class RejectionLog {
  readonly #now: () => number;
  readonly #pairs = new LRUCache<string, Account>({ max: rememberedSenders });
  readonly #reasons = new Map<RejectionReason, Account>();

  constructor(monotonicMs: () => number) {
    this.#now = monotonicMs;
  }

  note(reason: RejectionReason, sender: string): RejectionLine | null {
    const now = this.#now();
    const key = `${reason} ${sender}`;
    const pair = this.#pairs.get(key) ?? newAccount(now);
    this.#pairs.set(key, pair);
    const all = this.#reasons.get(reason) ?? newAccount(now);
    this.#reasons.set(reason, all);
    for (const account of [pair, all]) {
      if (now - account.since >= windowMs) Object.assign(account, { since: now, lines: 0 });
    }
    if (pair.lines >= 1 || all.lines >= linesPerReason) {
      pair.suppressed += 1;
      return null;
    }
    const { suppressed } = pair;
    pair.lines += 1;
    pair.suppressed = 0;
    all.lines += 1;
    return { suppressed };
  }
}

function newAccount(since: number): Account {
  return { since, lines: 0, suppressed: 0 };
}
