import { type ViolationCode } from './violation.js';

/** What a prefill engine remembers of a hand-off until it is claimed or its lease is over. */
export interface HandOff {
  readonly key: string;
  readonly promptHash: string;
  /** The exact block list given out, as JSON. */
  readonly blockIds: string;
  /** A 64-bit number given out, digits; `null` when the connector passes no object on. */
  readonly nonce: string | null;
  readonly blocks: number;
}

/** What a decode engine presents for a hand-off. `null` members are not carried by the connector. */
export interface Claim {
  readonly key: string;
  readonly engineId: string | null;
  readonly vllmVersion: string;
  readonly promptHash: string;
  readonly blockIds: string | null;
  readonly nonce: string | null;
}

export interface ClaimRefusal {
  readonly code: ViolationCode;
  readonly message: string;
}

interface Entry {
  readonly handOff: HandOff;
  readonly expiresAtMs: number;
  state: 'held' | 'claimed' | 'expired';
}

const rememberedHandOffs = 20_000;

/** The hand-offs of one live prefill process. Each is given to at most one decode call. */
export class HandOffStore {
  readonly #engineId: string;
  readonly #vllmVersion: string;
  readonly #leaseMs: number;
  readonly #now: () => number;
  /** In order of issue, which is the order of expiry. */
  readonly #entries = new Map<string, Entry>();
  readonly #held = new Set<Entry>();
  readonly #unfinished = new Map<string, number>();
  #blocks = 0;
  #issued = 0;
  #claimed = 0;
  #expired = 0;

  constructor(engineId: string, vllmVersion: string, leaseMs: number, now: () => number) {
    this.#engineId = engineId;
    this.#vllmVersion = vllmVersion;
    this.#leaseMs = leaseMs;
    this.#now = now;
  }

  isKnown(key: string): boolean {
    return this.#entries.has(key);
  }

  /** A prefill for `key` began; a claim before its end is told so. Returns what ends that. */
  begin(key: string): () => void {
    this.#unfinished.set(key, (this.#unfinished.get(key) ?? 0) + 1);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      const left = (this.#unfinished.get(key) ?? 1) - 1;
      if (left === 0) this.#unfinished.delete(key);
      else this.#unfinished.set(key, left);
    };
  }

  issue(handOff: HandOff): void {
    this.#expire();
    const entry: Entry = { handOff, expiresAtMs: this.#now() + this.#leaseMs, state: 'held' };
    this.#entries.set(handOff.key, entry);
    this.#held.add(entry);
    this.#blocks += handOff.blocks;
    this.#issued += 1;
    for (const [key, old] of this.#entries) {
      if (this.#entries.size <= rememberedHandOffs || old.state === 'held') break;
      this.#entries.delete(key);
    }
  }

  /** Gives the hand-off out, once; `null` means granted. */
  claim(claim: Claim): ClaimRefusal | null {
    this.#expire();
    if (claim.engineId !== null && claim.engineId !== this.#engineId) {
      return { code: 'wrong_engine', message: `hand-off ${claim.key} names engine ${claim.engineId}, this process is ${this.#engineId}` };
    }
    const entry = this.#entries.get(claim.key);
    if (entry === undefined) {
      return this.#unfinished.has(claim.key)
        ? { code: 'unfinished_prefill', message: `hand-off ${claim.key} is claimed before its prefill ended` }
        : { code: 'unknown_handoff', message: `this process never gave out hand-off ${claim.key}` };
    }
    if (entry.state === 'claimed') return { code: 'claimed_twice', message: `hand-off ${claim.key} was claimed before` };
    if (entry.state === 'expired') {
      return { code: 'expired_handoff', message: `the lease of hand-off ${claim.key} (${this.#leaseMs} ms) is over, its blocks are reused` };
    }
    if (claim.vllmVersion !== this.#vllmVersion) {
      return { code: 'version_mismatch', message: `prefill runs vLLM ${this.#vllmVersion}, decode runs ${claim.vllmVersion}` };
    }
    const { handOff } = entry;
    if (claim.promptHash !== handOff.promptHash) {
      return { code: 'prompt_mismatch', message: `hand-off ${claim.key} belongs to another prompt` };
    }
    if (claim.nonce !== handOff.nonce && claim.blockIds !== null) {
      return { code: 'altered_params', message: `hand-off ${claim.key}: sim_nonce ${String(claim.nonce)} came back instead of ${String(handOff.nonce)}` };
    }
    if (claim.blockIds !== null && claim.blockIds !== handOff.blockIds) {
      return { code: 'altered_params', message: `hand-off ${claim.key}: other block ids came back than were given out` };
    }
    entry.state = 'claimed';
    this.#release(entry);
    this.#claimed += 1;
    return null;
  }

  counts(): { readonly outstanding: number; readonly blocks: number; readonly issued: number; readonly claimed: number; readonly expired: number } {
    this.#expire();
    return { outstanding: this.#held.size, blocks: this.#blocks, issued: this.#issued, claimed: this.#claimed, expired: this.#expired };
  }

  #release(entry: Entry): void {
    if (this.#held.delete(entry)) this.#blocks -= entry.handOff.blocks;
  }

  #expire(): void {
    const nowMs = this.#now();
    for (const entry of this.#held) {
      if (entry.expiresAtMs > nowMs) return;
      entry.state = 'expired';
      this.#expired += 1;
      this.#release(entry);
    }
  }
}
