import { type AdminErrorCode, adminErrorStatus, type ErrorAnswer } from '@switchyard/core/contracts';

export interface ErrorFacts {
  /** What the caller can do about it. */
  readonly remedy?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal of the admin API, as its caller gets it. */
export class AdminError extends Error {
  readonly code: AdminErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: AdminErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message);
    this.name = 'AdminError';
    this.code = code;
    this.facts = facts;
  }

  get status(): number {
    return adminErrorStatus[this.code];
  }

  get answer(): ErrorAnswer {
    const { remedy, details } = this.facts;
    return { error: { code: this.code, message: this.message, ...(remedy === undefined ? {} : { remedy }), ...(details === undefined ? {} : { details }) } };
  }
}
