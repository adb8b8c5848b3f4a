import { type JsonDocument, scanDocument, valueOf } from '../json/json-document.js';
import { type JsonFailure } from '../json/json-failure.js';
import { booleanAt, numberAt, rawAt, stringAt } from '../json/json-value.js';
import { type PromptApi, PromptFinder, type PromptText } from './prompt-text.js';

/** What the router knows of a request body; everything else in it is between client and engine. */
export interface ScannedRequest {
  readonly document: JsonDocument;
  /** `null` when the request names none: absent, empty or not a string. */
  readonly model: string | null;
  readonly stream: boolean;
  /** Answers wanted for each prompt; 1 unless `n` is a number. */
  readonly n: number;
  /** vLLM's `cache_salt`: requests share cached prefixes only under one salt. */
  readonly cacheSalt: string | null;
  readonly prompt: PromptText;
  /**
   * Session key of hash and sticky policies from the body, `session:<v>` or `user:<v>`; the first non-empty string of
   * `session_params.session_id`, `user`, `session_id`, `user_id`, as vLLM Router orders them. `null` when none is.
   */
  readonly sessionKey: string | null;
}

export interface InvalidRequest {
  readonly code: 'invalid_json' | 'invalid_request';
  /** For the client: what is wrong and at which byte; holds no text of the body. */
  readonly message: string;
  readonly offset: number;
}

export type RequestScan =
  | { readonly kind: 'request'; readonly request: ScannedRequest }
  | ({ readonly kind: 'invalid' } & InvalidRequest);

/**
 * Checks a request body and finds what routing needs, in one pass over the bytes. The result shares memory with
 * `body`, which must not change. Never throws; an empty body is `invalid_json`.
 */
export function scanRequest(body: Uint8Array, api: PromptApi): RequestScan {
  const finder = new PromptFinder(api);
  const scan = scanDocument(body, finder.visit);
  if (scan.kind === 'invalid') return { kind: 'invalid', ...describeFailure(scan.failure) };
  if (scan.kind === 'not_object') {
    const message = `the request body must be a JSON object; it is of kind ${scan.valueKind}`;
    return { kind: 'invalid', code: 'invalid_request', message, offset: 0 };
  }
  const { document } = scan;
  const stream = valueOf(document, 'stream');
  const n = valueOf(document, 'n');
  return {
    kind: 'request',
    request: {
      document,
      model: textMember(document, 'model'),
      stream: stream !== undefined && booleanAt(body, stream) === true,
      n: (n === undefined ? null : numberAt(body, n)) ?? 1,
      cacheSalt: textMember(document, 'cache_salt'),
      prompt: finder.text,
      sessionKey: sessionKeyOf(document),
    },
  };
}

function describeFailure({ kind, offset, reason }: JsonFailure): InvalidRequest {
  return kind === 'other_encoding'
    ? { code: 'invalid_request', message: `the request body is not UTF-8: ${reason} at byte ${offset}`, offset }
    : { code: 'invalid_json', message: `the request body is not valid JSON: ${reason} at byte ${offset}`, offset };
}

/** A non-empty string member; `null` otherwise. */
function textMember(document: JsonDocument, name: string): string | null {
  const value = valueOf(document, name);
  const text = value === undefined ? null : stringAt(document.bytes, value);
  return text === '' ? null : text;
}

function sessionKeyOf(document: JsonDocument): string | null {
  const session = sessionParam(document);
  if (session !== null) return `session:${session}`;
  const user = textMember(document, 'user');
  if (user !== null) return `user:${user}`;
  const sessionId = textMember(document, 'session_id');
  if (sessionId !== null) return `session:${sessionId}`;
  const userId = textMember(document, 'user_id');
  return userId === null ? null : `user:${userId}`;
}

function sessionParam(document: JsonDocument): string | null {
  const params = valueOf(document, 'session_params');
  if (params === undefined) return null;
  const scan = scanDocument(rawAt(document.bytes, params));
  return scan.kind === 'object' ? textMember(scan.document, 'session_id') : null;
}
