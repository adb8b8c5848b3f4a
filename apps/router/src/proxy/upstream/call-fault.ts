import { type TransportFault } from '@switchyard/core';

/** Why an engine call ended without a complete answer, when nobody on this side wanted it to. */
export interface CallFault {
  readonly fault: TransportFault;
  /** Request bytes may have reached the engine. */
  readonly delivered: boolean;
  /** A reset on a connection that had served before, ahead of any byte of the answer: blamed on nobody. */
  readonly stale: boolean;
}

const invalidCodes: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);

interface FaultFacts {
  readonly written: boolean;
  readonly reused: boolean;
  readonly answered: boolean;
}

/** Reads an error of the HTTP client. */
export function callFault(error: Error, { written, reused, answered }: FaultFacts): CallFault {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (!written) {
    const timedOut = code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT';
    return { fault: timedOut ? 'connect_timeout' : 'connect_refused', delivered: false, stale: false };
  }
  // The parser's errors have a name and, depending on undici's version, no code.
  if (error.name === 'HTTPParserError' || invalidCodes.has(code)) return { fault: 'invalid_response', delivered: true, stale: false };
  return { fault: 'reset', delivered: true, stale: reused && !answered };
}
