import { type AccessRole } from '@switchyard/core/contracts';

import { type AccessParts, bearerOf, isSameHost } from '../access/access-rules.js';

/** What a live connection is let in by, before it becomes one. */
export interface HandshakeQuestion {
  /** All `Authorization` headers, as sent. */
  readonly authorizations: readonly string[];
  readonly cookie: string | null;
  readonly origin: string | null;
  readonly host: string | null;
}

export interface LiveIdentity {
  readonly role: AccessRole;
  /** Session it came with; `null` for a token. */
  readonly session: string | null;
}

export type HandshakeAnswer =
  | { readonly kind: 'known'; readonly identity: LiveIdentity }
  /** Browsers can send no header of their own: socket.io's `auth` follows as the first message. */
  | { readonly kind: 'token_follows' }
  | { readonly kind: 'refused'; readonly status: 401 | 403; readonly why: string };

/** Whether a connection may become a live one. What is presented must be right, also when something better may follow. */
export function decideHandshake(
  { authorizations, cookie, origin, host }: HandshakeQuestion,
  { roleOfToken, roleOfSession }: Pick<AccessParts, 'roleOfToken' | 'roleOfSession'>,
): HandshakeAnswer {
  if (origin !== null && !isSameHost(origin, host)) return { kind: 'refused', status: 403, why: 'a page of another origin may not follow this router' };
  const [authorization] = authorizations;
  if (authorizations.length > 1) return { kind: 'refused', status: 401, why: 'one Authorization header at most' };
  if (authorization === undefined && cookie === null) return { kind: 'token_follows' };
  const session = authorization === undefined ? cookie : null;
  const role = authorization === undefined ? roleOfSession(cookie ?? '') : roleOfToken(bearerOf(authorization));
  if (role === null) return { kind: 'refused', status: 401, why: session === null ? 'this token is not known' : 'this session is over' };
  return { kind: 'known', identity: { role, session } };
}
