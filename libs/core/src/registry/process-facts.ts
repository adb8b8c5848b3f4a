import { type Registration } from './registration.js';

/** A later start by less than this is the same process read with another rounding (Unix seconds). */
export const startTimeToleranceSecs = 2;

/** What is known of the engine process behind a lifetime; `null` = not known. */
export interface ProcessFacts {
  readonly zmqAddress: string | null;
  readonly instance: string | null;
  readonly startedAtSecs: number | null;
}

export const noFacts: ProcessFacts = { zmqAddress: null, instance: null, startedAtSecs: null };

export function factsOf(registration: Registration): ProcessFacts {
  return { zmqAddress: registration.zmqAddress, instance: registration.instance, startedAtSecs: registration.startedAtSecs };
}

/** Which fact proves that `now` is another process than `before`; `null` = no proof. From null to a value is learning. */
export function proofOfNewProcess(before: ProcessFacts, now: ProcessFacts): 'zmq_address' | 'instance' | 'start_time' | null {
  if (before.zmqAddress !== null && now.zmqAddress !== null && before.zmqAddress !== now.zmqAddress) return 'zmq_address';
  if (before.instance !== null && now.instance !== null && before.instance !== now.instance) return 'instance';
  if (startedLater(before.startedAtSecs, now.startedAtSecs)) return 'start_time';
  return null;
}

/** Whether `nowSecs` is a start of a later process than `beforeSecs`; unknown times prove nothing. */
function startedLater(beforeSecs: number | null, nowSecs: number | null): boolean {
  return beforeSecs !== null && nowSecs !== null && nowSecs > beforeSecs + startTimeToleranceSecs;
}

/** `now` where it says something, else `before`. */
export function mergeFacts(before: ProcessFacts, now: ProcessFacts): ProcessFacts {
  return {
    zmqAddress: now.zmqAddress ?? before.zmqAddress,
    instance: now.instance ?? before.instance,
    startedAtSecs: now.startedAtSecs ?? before.startedAtSecs,
  };
}
