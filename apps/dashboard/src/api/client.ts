import type { AdminErrorCode, ErrorAnswer } from '@switchyard/core/contracts';

/** The admin API refused, or could not be reached (`status` 0). */
export class AdminError extends Error {
  readonly code: AdminErrorCode | 'unreachable' | 'unreadable';
  readonly status: number;
  /** What to do about it. */
  readonly remedy: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: AdminError['code'],
    message: string,
    remedy?: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'AdminError';
    this.status = status;
    this.code = code;
    this.remedy = remedy;
    this.details = details;
  }
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface CallOptions {
  readonly method?: Method;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

let onUnauthorized = (): void => undefined;

/** Called when the session is gone: the page then asks for a token again. */
export function whenUnauthorized(act: () => void): void {
  onUnauthorized = act;
}

/**
 * One call of the admin API by the session cookie, e.g. `call<WorkersAnswer>('/api/v1/workers')`; answers without a body
 * give `undefined`.
 *
 * @throws {AdminError} on every refusal and fault.
 */
export async function call<T>(path: string, { method = 'GET', body, signal }: CallOptions = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      ...(signal === undefined ? {} : { signal }),
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new AdminError(0, 'unreachable', 'The router does not answer.', 'Check that it runs and that this page may reach its admin port.');
  }
  const text = await response.text();
  const answer = readJson(text);
  if (response.ok && answer !== unreadable) return answer as T;
  if (response.status === 401 && path !== '/api/v1/session') onUnauthorized();
  throw errorOf(response.status, answer);
}

const unreadable = Symbol('unreadable');

function readJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return unreadable;
  }
}

function errorOf(status: number, answer: unknown): AdminError {
  if (typeof answer === 'object' && answer !== null && 'error' in answer) {
    const { error } = answer as ErrorAnswer;
    return new AdminError(status, error.code, error.message, error.remedy, error.details);
  }
  return new AdminError(status, 'unreadable', `The router answered ${status} without saying why.`);
}

/** The refusal in one sentence, with what to do. */
export function refusalOf(error: unknown): string {
  if (error instanceof AdminError) return error.remedy === undefined ? error.message : `${error.message} ${error.remedy}`;
  return error instanceof Error ? error.message : String(error);
}
