import { useSyncExternalStore } from 'react';

import { useLive } from './live-store.js';

class Ticker {
  #nowMs = Date.now();
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #readers = new Set<() => void>();
  readonly #everyMs: number;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  readonly subscribe = (reader: () => void): (() => void) => {
    if (this.#readers.size === 0) {
      this.#nowMs = Date.now();
      this.#timer = setInterval(() => {
        this.#nowMs = Date.now();
        for (const tell of this.#readers) tell();
      }, this.#everyMs);
    }
    this.#readers.add(reader);
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size === 0) clearInterval(this.#timer);
    };
  };

  readonly read = (): number => this.#nowMs;
}

const seconds = new Ticker(1000);
const quarters = new Ticker(250);

/** Unix ms, anew every second, by one timer for the whole page. */
export const useNow = (): number => useSyncExternalStore(seconds.subscribe, seconds.read);

/** Unix ms, four times a second. */
export const useQuickNow = (): number => useSyncExternalStore(quarters.subscribe, quarters.read);

/** How long ago something arrived on the monotonic clock; stands still while the picture is not live. */
export function useSinceArrival(arrivedMs: number): number {
  useQuickNow();
  const stoppedAt = useLive(({ link }) => (link.phase === 'live' ? null : link.heardAt));
  const standsMs = stoppedAt === null ? 0 : Date.now() - stoppedAt;
  return Math.max(0, performance.now() - standsMs - arrivedMs);
}
