/** Something that acts again and again at a pace of its own. */
export interface Paced {
  /** Acts, and returns the milliseconds until the next time; `null` ends it. */
  step(): number | null;
}

/** One timer for all streams of an engine: a timer each costs more than the work. */
export class Pacer {
  readonly #due = new Map<Paced, number>();
  #cancel: (() => void) | null = null;
  #wakeAtMs = Infinity;

  add(paced: Paced, delayMs: number): void {
    const dueMs = performance.now() + delayMs;
    this.#due.set(paced, dueMs);
    this.#arm(dueMs);
  }

  remove(paced: Paced): void {
    this.#due.delete(paced);
  }

  #arm(dueMs: number): void {
    if (dueMs >= this.#wakeAtMs) return;
    this.#cancel?.();
    this.#wakeAtMs = dueMs;
    const delayMs = dueMs - performance.now();
    if (delayMs < 0.5) {
      const handle = setImmediate(() => this.#tick());
      this.#cancel = () => clearImmediate(handle);
    } else {
      const handle = setTimeout(() => this.#tick(), Math.max(1, Math.round(delayMs)));
      this.#cancel = () => clearTimeout(handle);
    }
  }

  #tick(): void {
    this.#cancel = null;
    this.#wakeAtMs = Infinity;
    const nowMs = performance.now();
    let nextMs = Infinity;
    for (const [paced, dueMs] of [...this.#due]) {
      if (dueMs > nowMs + 0.5) {
        nextMs = Math.min(nextMs, dueMs);
        continue;
      }
      // A step may have removed a stream that this tick still lists.
      if (!this.#due.has(paced)) continue;
      this.#due.delete(paced);
      const delayMs = paced.step();
      if (delayMs === null) continue;
      // Counted from when it was due, so that late timers do not slow the engine down.
      const laterMs = Math.max(dueMs + delayMs, nowMs);
      this.#due.set(paced, laterMs);
      nextMs = Math.min(nextMs, laterMs);
    }
    if (nextMs !== Infinity) this.#arm(nextMs);
  }
}
