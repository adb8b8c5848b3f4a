/**
 * Numbers lifetimes. Never gives a number twice, not even across restarts: a ceiling is reserved in the store before
 * any number below it is used, and a restart goes on above it.
 */
export class GenerationCounter {
  readonly #step: number;
  readonly #reserve: (ceiling: number) => void;
  #next: number;
  #ceiling: number;

  /**
   * `start` is the first number to give (the stored ceiling, or the wall-clock second without a store); `reserve`
   * writes a new ceiling durably and may throw, which makes `next` throw and give nothing.
   */
  constructor(start: number, reserve: (ceiling: number) => void, step = 1000) {
    this.#next = start;
    this.#ceiling = start;
    this.#reserve = reserve;
    this.#step = step;
  }

  next(): number {
    if (this.#next >= this.#ceiling) {
      const ceiling = this.#next + this.#step;
      this.#reserve(ceiling);
      this.#ceiling = ceiling;
    }
    return this.#next++;
  }
}
