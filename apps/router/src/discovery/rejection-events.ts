import { type EventSink } from '@switchyard/core';
import { type RejectionReason } from './discovery-source.js';

const eventEveryMs = 60_000;

/** Tells operators that statements are refused: one event a reason and minute, so that garbage cannot fill the log. */
export class RejectionEvents {
  readonly #emit: EventSink;
  readonly #monotonicMs: () => number;
  readonly #told = new Map<RejectionReason, { atMs: number; untold: number }>();

  constructor(emit: EventSink, monotonicMs: () => number) {
    this.#emit = emit;
    this.#monotonicMs = monotonicMs;
  }

  note(reason: RejectionReason, sender: string, detail: string): void {
    const nowMs = this.#monotonicMs();
    const told = this.#told.get(reason);
    if (told !== undefined && nowMs - told.atMs < eventEveryMs) {
      told.untold += 1;
      return;
    }
    this.#told.set(reason, { atMs: nowMs, untold: 0 });
    this.#emit({ type: 'rejected', reason, detail: { sender, detail, untold: told?.untold ?? 0 } });
  }
}
