import { errorEvent } from '../generation/generation-run.js';
import { type Answer } from '../http/answer.js';
import { errorBody } from '../openai/api-error.js';
import { doneEvent } from '../openai/event-writer.js';
import { type RequestFaults } from './fault-board.js';

const truncatedJson = '{"id":"cmpl-truncated","object":"text_completion","choices":[{"index":0,"te';
const neverSentBytes = 1000;

/** Lets a fault answer in place of the engine; false when none of the request's faults does that. */
export function answerWithFault(faults: RequestFaults, answer: Answer, stream: boolean, crash: () => void): boolean {
  if (faults.size === 0) return false;
  const status = faults.get('status');
  const crashing = faults.get('crash');
  if (crashing?.events === null) crash();
  else if (faults.has('hang')) return true;
  else if (faults.has('reset')) answer.reset();
  else if (status !== undefined) {
    answer.json(status.status, status.body ?? errorBody(status.status, 'InternalServerError', 'fault on command'), status.headers);
  } else if (faults.has('hang_after_headers')) {
    if (stream) answer.openStream();
    else answer.openJson(neverSentBytes);
  } else if (faults.has('error_event_first')) {
    answer.openStream();
    answer.write(errorEvent + doneEvent);
    answer.end();
  } else if (faults.has('invalid_body')) answer.json(200, truncatedJson);
  else return false;
  return true;
}
