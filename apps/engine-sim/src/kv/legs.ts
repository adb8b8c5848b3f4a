import { randomBytes } from 'node:crypto';
import { type JsonObject } from '../openai/fields.js';
import { claimAt } from './claim-channel.js';
import { type HandOffStore } from './hand-off-store.js';
import { type KvConnector, type LegCall, type Phase } from './kv-connector.js';
import { Violation } from './violation.js';

/** A prefill that will hand its KV over. */
export interface PrefillTicket {
  /** The prefill ended: keeps the blocks if there is anything to go on with; `params` is the answer's `kv_transfer_params`, JSON. */
  finish(finishReason: string): { readonly issued: boolean; readonly params: string | null };
  /** It ended without a hand-off; after `finish` this does nothing. */
  abandon(): void;
}

/** What is computed here, what is pulled, and what is kept for another engine. */
export type Leg = { readonly kind: 'local' } | { readonly kind: 'pulled' } | { readonly kind: 'producer'; readonly ticket: PrefillTicket };

/** The prompt a leg is about. */
export interface LegPrompt {
  readonly hash: string;
  readonly tokens: number;
}

function describeMember(body: JsonObject, key: string): string {
  return `${key} ${JSON.stringify(body[key] ?? null)}`;
}

/** A prefill call computes one token, at once, for one choice; anything else wastes the engine or corrupts the hand-off. */
function checkPrefillShape(body: JsonObject): void {
  const absentOr = (key: string, ...allowed: readonly unknown[]): boolean => (body[key] ?? null) === null || allowed.includes(body[key]);
  const minTokens = body['min_tokens'] ?? 0;
  const faults = [
    ...(absentOr('stream', false) ? [] : ['stream']),
    ...(absentOr('stream_options') ? [] : ['stream_options']),
    ...(body['max_tokens'] === 1 ? [] : ['max_tokens']),
    ...(absentOr('max_completion_tokens', 1) ? [] : ['max_completion_tokens']),
    ...(typeof minTokens === 'number' && minTokens <= 1 ? [] : ['min_tokens']),
    ...(absentOr('n', 1) ? [] : ['n']),
    ...(absentOr('best_of', 1) ? [] : ['best_of']),
  ];
  if (faults.length > 0) throw new Violation('prefill_shape', `not a prefill call: ${faults.map((key) => describeMember(body, key)).join(', ')}`);
}

/** 64 bits, always above 2^62: no double holds it. */
function drawNonce(): string {
  return ((1n << 62n) | (randomBytes(8).readBigUInt64BE() >> 2n)).toString();
}

/** Checks the prefill/decode side of calls and moves hand-offs; throws `Violation`. */
export class Legs {
  readonly #connector: KvConnector;
  readonly #store: HandOffStore;
  readonly #vllmVersion: string;
  readonly #blockSize: number;
  readonly #kvBlocks: number;
  #nextBlock = 0;

  constructor(connector: KvConnector, store: HandOffStore, engine: { readonly vllmVersion: string; readonly blockSize: number; readonly kvBlocks: number }) {
    this.#connector = connector;
    this.#store = store;
    this.#vllmVersion = engine.vllmVersion;
    this.#blockSize = engine.blockSize;
    this.#kvBlocks = engine.kvBlocks;
  }

  async check(phase: Phase, call: LegCall, body: JsonObject, prompt: LegPrompt): Promise<Leg> {
    this.#connector.checkAny(call);
    if (phase === 'prefill') {
      const key = this.#connector.checkPrefill(call);
      checkPrefillShape(body);
      return key === null ? { kind: 'local' } : { kind: 'producer', ticket: this.#produce(key, prompt) };
    }
    const target = phase === 'decode' ? this.#connector.checkDecode(call) : null;
    if (target === null) return { kind: 'local' };
    const refusal = await claimAt(target, { vllmVersion: this.#vllmVersion, promptHash: prompt.hash });
    if (refusal !== null) throw new Violation(refusal.code, refusal.message);
    return { kind: 'pulled' };
  }

  #produce(key: string, prompt: LegPrompt): PrefillTicket {
    if (this.#store.isKnown(key)) throw new Violation('duplicate_handoff', `hand-off ${key} was given out before`);
    const end = this.#store.begin(key);
    return {
      abandon: end,
      finish: (finishReason) => {
        end();
        // As in vLLM: only a prefill that was cut by its limit leaves something to go on with.
        if (this.#connector.carriesParams && finishReason !== 'length') return { issued: false, params: null };
        const blocks = Math.ceil(prompt.tokens / this.#blockSize);
        const blockIds = JSON.stringify(Array.from({ length: blocks }, () => this.#drawBlock()));
        const nonce = drawNonce();
        const params = this.#connector.describe({ key, blockIds, nonce });
        this.#store.issue({ key, promptHash: prompt.hash, blockIds, nonce, blocks });
        return { issued: true, params };
      },
    };
  }

  #drawBlock(): number {
    this.#nextBlock = (this.#nextBlock + 1) % this.#kvBlocks;
    return this.#nextBlock;
  }
}
