import { type PlacedWorker } from '@switchyard/core';

/** Headers that name the workers of an answer, for `--expose-route-headers`. */
export function singleRouteHeaders(worker: PlacedWorker): string[] {
  const leg = worker.role === 'prefill' ? 'x-switchyard-prefill' : 'x-switchyard-decode';
  return [leg, worker.workerId, 'x-switchyard-reason', worker.reason];
}

/** The reason is that of the prefill worker: it is the choice that cache affinity is about. */
export function pairRouteHeaders(prefill: PlacedWorker, decode: PlacedWorker): string[] {
  return ['x-switchyard-prefill', prefill.workerId, 'x-switchyard-decode', decode.workerId, 'x-switchyard-reason', prefill.reason];
}
