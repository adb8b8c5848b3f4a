import { type SchedulerPort } from '@switchyard/core';
import { type ClientExchange } from '../client/client-exchange.js';
import { type CoarseWheel, Deadline } from '../upstream/coarse-wheel.js';

/** Resolves when a request that was refused as waitable may be tried again: a worker came, time is up, or it is over. */
export function waitForWorkers(port: SchedulerPort, exchange: ClientExchange, wheel: CoarseWheel, untilMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      wheel.stop(entry);
      cancel();
      resolve();
    };
    const entry = new Deadline(untilMs, done);
    const cancel = port.whenSelectable(done);
    wheel.start(entry);
    exchange.onEnd(done);
  });
}
