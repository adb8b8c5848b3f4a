import { type Clock } from '@switchyard/core';

/** The clocks of this process. */
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
};
