/** Weight of the newest measurement. */
const newest = 0.2;

/** Smoothed durations of one worker, in milliseconds: exponentially weighted, `null` before the first measurement. */
export class WorkerLatency {
  #prefillMs: number | null = null;
  #firstByteMs: number | null = null;
  #perChunkMs: number | null = null;

  /** From the prefill call to its complete answer. */
  get prefillMs(): number | null {
    return this.#prefillMs;
  }

  /** From the decode or undivided call to its first body byte. */
  get firstByteMs(): number | null {
    return this.#firstByteMs;
  }

  /** Between two chunks of a streamed answer. */
  get perChunkMs(): number | null {
    return this.#perChunkMs;
  }

  notePrefill(ms: number): void {
    this.#prefillMs = smooth(this.#prefillMs, ms);
  }

  noteFirstByte(ms: number): void {
    this.#firstByteMs = smooth(this.#firstByteMs, ms);
  }

  notePerChunk(ms: number): void {
    this.#perChunkMs = smooth(this.#perChunkMs, ms);
  }
}

function smooth(before: number | null, ms: number): number {
  return before === null ? ms : before + newest * (ms - before);
}
