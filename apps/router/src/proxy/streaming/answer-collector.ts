import { type AnswerHead, readAnswerHead } from '../headers/engine-answer-head.js';
import { type CallFault } from '../upstream/call-fault.js';
import { type AnswerSink } from '../upstream/engine-call.js';
import { type Interruption, type RelayedCall } from './answer-relay.js';

export type CollectResult =
  | { readonly kind: 'answer'; readonly head: AnswerHead; readonly body: Buffer }
  | { readonly kind: 'fault'; readonly fault: CallFault }
  | { readonly kind: 'interrupted'; readonly by: Interruption };

/** A prefill answer is one token and a list of cache blocks. */
const collectedBytes = 33_554_432;

/** Reads a whole engine answer that is meant for the router. */
export class AnswerCollector implements AnswerSink {
  readonly result: Promise<CollectResult>;
  readonly #requestId: string;
  #settle: (result: CollectResult) => void = () => undefined;
  #call: RelayedCall | null = null;
  #head: AnswerHead | null = null;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(requestId: string) {
    this.#requestId = requestId;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  feed(call: RelayedCall): void {
    this.#call = call;
  }

  interrupt(by: Interruption): void {
    this.#call?.abort();
    this.#settle({ kind: 'interrupted', by });
  }

  head(status: number, statusText: string, rawHeaders: readonly Buffer[]): void {
    this.#head = readAnswerHead(status, statusText, rawHeaders, this.#requestId);
  }

  chunk(bytes: Buffer): boolean {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > collectedBytes) {
      this.#call?.abort();
      this.fault({ fault: 'invalid_response', delivered: true, stale: false });
    }
    return true;
  }

  end(): void {
    if (this.#head === null) return;
    const [only] = this.#chunks;
    const body = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks, this.#bytes);
    this.#settle({ kind: 'answer', head: this.#head, body });
  }

  fault(fault: CallFault): void {
    this.#settle({ kind: 'fault', fault });
  }
}
