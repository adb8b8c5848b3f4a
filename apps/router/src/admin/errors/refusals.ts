import { isoTimeOf, type OperationOutcome, type OperationRefusal } from '@switchyard/core';

import { AdminError } from './admin-error.js';

/** The value of an operation that was done; a refusal becomes the error that its caller gets. */
export function valueOf<T>(outcome: OperationOutcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw refusalError(outcome);
}

function refusalError(refusal: OperationRefusal): AdminError {
  switch (refusal.code) {
    case 'unknown_worker':
      return new AdminError('unknown_worker', 'there is no such worker, and there was none lately', { remedy: 'list the workers with GET /api/v1/workers' });
    case 'unknown_endpoint':
      return unknownEndpoint();
    case 'generation_changed': {
      const { successorId } = refusal;
      return new AdminError('generation_changed', 'the worker you mean has left; its endpoint may have another one now', {
        remedy: successorId === null ? 'nothing is registered there now: nothing is left to do' : `look at ${successorId} and repeat the call with it if you still want it`,
        details: { successorId },
      });
    }
    case 'last_selectable_worker': {
      const { role, model, group } = refusal;
      return new AdminError('last_selectable_worker', `no request ${model === null ? '' : `for ${model} `}could be placed any more: this is the last selectable ${role} worker of group ${group}`, {
        remedy: `start another ${role} worker first, or repeat the call with "force": true`,
        details: { role, model, group, selectable: 1 },
      });
    }
    case 'quarantined': {
      const { role, endpoint, untilMs, by, reason } = refusal.entry;
      const until = untilMs === null ? 'until it is readmitted' : `until ${isoTimeOf(untilMs)}`;
      return new AdminError('quarantined', `${role} ${endpoint} was evicted by ${by} (${reason}) and stays out ${until}`, {
        remedy: `readmit it with DELETE /api/v1/quarantine/${role}/${encodeURIComponent(endpoint)}`,
        details: { role, endpoint, until: untilMs === null ? null : isoTimeOf(untilMs) },
      });
    }
    case 'worker_present':
      return new AdminError('worker_present', 'there is a worker of this role at this endpoint already', { remedy: 'look at it with GET /api/v1/workers; evict it first to add it with other facts' });
    case 'not_drained':
      return new AdminError('not_drained', 'the worker is not drained', { remedy: 'drain it and wait, or repeat the call with ?force=true' });
    case 'store_unavailable':
      return new AdminError('store_unavailable', 'the store cannot be written, so the wish would not survive a restart; nothing was changed', {
        remedy: 'see the log for the cause (a full disk?) and repeat the call',
      });
  }
}

/** Nothing is registered at an endpoint that an operator names. */
export function unknownEndpoint(): AdminError {
  return new AdminError('unknown_endpoint', 'no worker is registered there', {
    remedy: 'check the address with GET /api/v1/workers; to drain what may come later give "until": "undrain" and a role',
  });
}
