import { type AttemptOutcome } from './scheduler-port.js';

/**
 * Whether the call behind an outcome provably wrote nothing to an engine, so that its hand-off may be used again
 * (lifecycle rule 16): its connection was refused or timed out. A revoked call wrote nothing either, but is nobody's
 * failure: its request begins at the beginning.
 */
export function neverReachedEngine({ status, fault }: Pick<AttemptOutcome, 'status' | 'fault'>): boolean {
  return status === null && (fault === 'connect_refused' || fault === 'connect_timeout');
}
