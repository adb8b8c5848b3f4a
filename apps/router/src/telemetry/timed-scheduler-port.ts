import { type SchedulerPort } from '@switchyard/core';

/**
 * Measures the placement transactions of a port in this process: they are over when `reserve` returns its promise, so
 * waiting for the promise would measure the event loop.
 */
export function timedSchedulerPort(port: SchedulerPort, tookSeconds: (seconds: number) => void): SchedulerPort {
  return {
    ...port,
    reserve: (request) => {
      const from = performance.now();
      const result = port.reserve(request);
      tookSeconds((performance.now() - from) / 1000);
      return result;
    },
  };
}
