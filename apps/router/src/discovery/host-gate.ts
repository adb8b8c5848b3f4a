import { lookup } from 'node:dns/promises';
import { type NetworkAllowList } from '@switchyard/core';
import { LRUCache } from 'lru-cache';

export type HostVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'forbidden_host' | 'unresolvable_host' | 'busy'; readonly detail: string };

/** Every address of a host name; rejects when there is none. */
export type LookupAll = (host: string) => Promise<readonly string[]>;

const keepGoodMs = 30_000;
const keepBadMs = 10_000;
const patienceMs = 5_000;
const rememberedHosts = 1024;
const waitingHosts = 256;
const waitingPerHost = 64;
/** The system resolver runs in libuv's four threads, which files and the store need as well. */
const parallelLookups = 2;

/** The system's resolver, hosts file included. */
export const systemLookup: LookupAll = async (host) => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/**
 * Judges registered hosts by the allow-list. An IP address is judged at once; a name when it is resolved, and every
 * address of it must pass. Questions about one host are answered in the order in which they came, so that a
 * registration never overtakes an earlier one of the same endpoint; other hosts do not wait for it.
 */
export class HostGate {
  readonly #allow: NetworkAllowList;
  readonly #lookup: LookupAll;
  readonly #now: () => number;
  readonly #known = new LRUCache<string, { readonly verdict: HostVerdict; readonly untilMs: number }>({ max: rememberedHosts });
  readonly #waiting = new Map<string, ((verdict: HostVerdict) => void)[]>();
  readonly #queue: string[] = [];
  #running = 0;
  #closed = false;

  constructor({ allow, lookup: lookupAll, monotonicMs }: { allow: NetworkAllowList; lookup: LookupAll; monotonicMs: () => number }) {
    this.#allow = allow;
    this.#lookup = lookupAll;
    this.#now = monotonicMs;
  }

  /** Hosts whose answer is awaited. */
  get pending(): number {
    return this.#waiting.size;
  }

  /** Calls `then` once, synchronously when the answer is known. */
  judge(host: string, then: (verdict: HostVerdict) => void): void {
    const answer = this.#answerNow(host);
    if (answer) {
      then(answer);
      return;
    }
    const waiting = this.#waiting.get(host);
    if (waiting) {
      waiting.push(then);
      return;
    }
    this.#waiting.set(host, [then]);
    this.#queue.push(host);
    this.#next();
  }

  /** Nobody is answered any more. */
  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    this.#queue.length = 0;
  }

  /** `null` when the question has to wait for a lookup. */
  #answerNow(host: string): HostVerdict | null {
    const direct = this.#allow.check(host);
    if (direct !== 'not_an_address') return verdictOf(host, direct);
    const waiting = this.#waiting.get(host);
    if (waiting) return waiting.length < waitingPerHost ? null : busy(host);
    const known = this.#known.get(host);
    if (known && known.untilMs > this.#now()) return known.verdict;
    return this.#waiting.size < waitingHosts ? null : busy(host);
  }

  #next(): void {
    while (this.#running < parallelLookups) {
      const host = this.#queue.shift();
      if (host === undefined) return;
      this.#running += 1;
      void this.#resolve(host);
    }
  }

  async #resolve(host: string): Promise<void> {
    const patience = setTimeout(() => this.#answer(host, unresolvable(host, 'no answer in time')), patienceMs).unref();
    try {
      const verdict = this.#verdictOver(host, await this.#lookup(host));
      this.#answer(host, verdict);
    } catch (error) {
      this.#answer(host, unresolvable(host, error instanceof Error ? error.message : String(error)));
    } finally {
      clearTimeout(patience);
      // A lookup cannot be called off: its thread is taken until it returns, though nobody waits any more.
      this.#running -= 1;
      this.#next();
    }
  }

  #verdictOver(host: string, addresses: readonly string[]): HostVerdict {
    if (addresses.length === 0) return unresolvable(host, 'it has no address');
    for (const address of addresses) {
      const verdict = verdictOf(`${host} (${address})`, this.#allow.check(address));
      if (!verdict.ok) return verdict;
    }
    return { ok: true };
  }

  #answer(host: string, verdict: HostVerdict): void {
    const waiting = this.#waiting.get(host);
    if (!waiting || this.#closed) return;
    this.#waiting.delete(host);
    this.#known.set(host, { verdict, untilMs: this.#now() + (verdict.ok ? keepGoodMs : keepBadMs) });
    for (const then of waiting) then(verdict);
  }
}

function verdictOf(shown: string, checked: 'allowed' | 'not_listed' | 'never' | 'not_an_address'): HostVerdict {
  if (checked === 'allowed') return { ok: true };
  const why = checked === 'not_listed' ? 'is outside the allowed networks (--discovery-allow)' : 'is an address engines never have';
  return { ok: false, reason: 'forbidden_host', detail: `${shown} ${why}` };
}

function unresolvable(host: string, why: string): HostVerdict {
  return { ok: false, reason: 'unresolvable_host', detail: `${host} cannot be resolved: ${why}` };
}

function busy(host: string): HostVerdict {
  return { ok: false, reason: 'busy', detail: `too many registrations wait for names to resolve; ${host} was not looked up` };
}
