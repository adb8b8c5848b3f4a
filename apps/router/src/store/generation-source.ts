import { type Clock, GenerationCounter } from '@switchyard/core';

import { storeFailure } from './store-failure.js';
import { type Store } from './store.js';

const retryAfterMs = 1_000;

interface GenerationSourceDeps {
  readonly store: Pick<Store, 'generationCeiling' | 'reserveGenerations'>;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/**
 * Generation numbers above everything the store has reserved, or from the wall-clock second on when it remembers
 * nothing. The first reservation throws when it fails; later ones must not stop routing, so numbers are then counted in
 * memory and the reservation is tried again.
 */
export function generationSource({ store, clock, warn }: GenerationSourceDeps): () => number {
  const start = store.generationCeiling() ?? Math.floor(clock.wallMs() / 1000);
  let owed: number | null = null;
  let triedAtMs = 0;
  const reserve = (ceiling: number): void => {
    triedAtMs = clock.monotonicMs();
    try {
      store.reserveGenerations(ceiling);
      if (owed !== null) warn('generation numbers are reserved in the store again');
      owed = null;
    } catch (error) {
      if (ceiling !== owed) warn(`generation numbers cannot be reserved in the store and may repeat after a restart: ${storeFailure(error)}`);
      owed = ceiling;
    }
  };
  const step = 1_000;
  // Reserved here and not by the first registration, so that a store that cannot be written is found out at the start.
  store.reserveGenerations(start + step);
  let reserved = start + step;
  const counter = new GenerationCounter(
    start,
    (ceiling) => {
      if (ceiling > reserved) reserve(ceiling);
      reserved = Math.max(reserved, ceiling);
    },
    step,
  );
  return () => {
    if (owed !== null && clock.monotonicMs() - triedAtMs >= retryAfterMs) reserve(owed);
    return counter.next();
  };
}
