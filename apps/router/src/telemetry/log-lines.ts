import { writeSync } from 'node:fs';

/** Writes bytes and tells how many were taken; throws when none were. */
export type WriteSome = (bytes: Uint8Array) => number;

const toStderr: WriteSome = (bytes) => writeSync(2, bytes);

/**
 * Where log lines go. A reader that is gone (EPIPE) or takes no more (EAGAIN on a pipe) costs lines, never the process:
 * pino's own destination sleeps and tries again for ever, with all requests standing still and no way to stop.
 */
export class LogLines {
  readonly #writeSome: WriteSome;
  /** What is left of a line of which a part was taken. */
  #rest: Uint8Array | null = null;
  #dropped = 0;

  constructor(writeSome: WriteSome = toStderr) {
    this.#writeSome = writeSome;
  }

  write(line: string): void {
    if (this.#rest !== null) this.#put(this.#rest);
    if (this.#rest !== null || !this.#put(Buffer.from(this.#note() + line))) this.#dropped += 1;
    else this.#dropped = 0;
  }

  #put(bytes: Uint8Array): boolean {
    try {
      const taken = this.#writeSome(bytes);
      this.#rest = taken < bytes.length ? bytes.subarray(taken) : null;
      return true;
    } catch {
      return false;
    }
  }

  #note(): string {
    if (this.#dropped === 0) return '';
    return `${JSON.stringify({ level: 40, time: new Date().toISOString(), dropped: this.#dropped, msg: 'log lines were dropped: stderr took no more' })}\n`;
  }
}
