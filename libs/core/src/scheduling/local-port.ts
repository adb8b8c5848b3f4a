import { type Fleet } from '../pools/fleet.js';
import { type Scheduler } from './scheduler.js';
import { type SchedulerPort } from './scheduler-port.js';

/** The scheduler of this very process behind the asynchronous port; each call is one synchronous step of it. */
export function localSchedulerPort(scheduler: Scheduler, fleet: Fleet): SchedulerPort {
  return {
    reserve: (request) => answer(() => scheduler.reserve(request)),
    prefillDone: (grantId, handoff) => answer(() => scheduler.prefillDone(grantId, handoff)),
    beginDecode: (grantId, exclude, undelivered) => answer(() => scheduler.beginDecode(grantId, exclude, undelivered)),
    firstByte: (grantId, phase) => answer(() => scheduler.firstByte(grantId, phase)),
    end: (grantId, outcome) => answer(() => scheduler.end(grantId, outcome)),
    onRevoked: (listener) => scheduler.onRevoked(listener),
    whenSelectable: (listener) => fleet.onSelectable(listener),
    openRequest: (request) => scheduler.openRequest(request),
    closeRequest: (requestKey, close) => scheduler.closeRequest(requestKey, close),
  };
}

/** Takes the step now; a throw becomes a rejection, as it would from another process. */
function answer<T>(step: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(step());
  });
}
