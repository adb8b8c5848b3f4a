/**
 * Time during which the router could hear (lifecycle rule 17): it advances with each tick, but at most `maxStepMs` a
 * tick, so a pause of the process (SIGSTOP, VM steal, long collection) expires nobody.
 */
export class ListeningClock {
  readonly #maxStepMs: number;
  #nowMs = 0;
  #lastTickMs: number | null = null;

  /** `maxStepMs` should be about twice the tick interval. */
  constructor(maxStepMs = 500) {
    this.#maxStepMs = maxStepMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Advances to `monotonicMs`, by no more than one step; returns the new time. */
  tick(monotonicMs: number): number {
    if (this.#lastTickMs !== null) {
      this.#nowMs += Math.min(Math.max(0, monotonicMs - this.#lastTickMs), this.#maxStepMs);
    }
    this.#lastTickMs = monotonicMs;
    return this.#nowMs;
  }
}
