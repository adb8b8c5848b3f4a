import { type AccessRole } from '@switchyard/core/contracts';

/** What access is decided by. Not the path as sent: the route that the request was matched to, and nothing else. */
export interface AccessQuestion {
  readonly method: string;
  /** Template of the matched route; `null` when there is none. */
  readonly route: string | null;
  /** All `Authorization` headers, as sent. */
  readonly authorizations: readonly string[];
  readonly cookie: string | null;
  readonly origin: string | null;
  readonly host: string | null;
}

export interface AccessParts {
  readonly roleOfToken: (token: string) => AccessRole | null;
  readonly roleOfSession: (id: string) => AccessRole | null;
  /** Routes anybody may read. */
  readonly publicRoutes: ReadonlySet<string>;
}

export type AccessAnswer = { readonly allowed: true; readonly role: AccessRole | null } | { readonly allowed: false; readonly why: 'unauthorized' | 'forbidden' | 'cross_origin' };

export const sessionRoute = '/api/v1/session';

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a request may go on. Whatever is not public needs a token or a session, an unknown path too; whatever does
 * not read needs an operator. Only logging in and out is open to every role.
 */
export function decideAccess(question: AccessQuestion, { roleOfToken, roleOfSession, publicRoutes }: AccessParts): AccessAnswer {
  const { method, route, authorizations, cookie, origin, host } = question;
  const reads = reading.has(method);
  if (route !== null && reads && publicRoutes.has(route)) return { allowed: true, role: null };
  if (route === sessionRoute && method === 'POST') return { allowed: true, role: null };

  const [authorization] = authorizations;
  // Several headers could mean one thing to a proxy in front and another one here.
  if (authorizations.length > 1) return { allowed: false, why: 'unauthorized' };
  const bySession = authorization === undefined;
  const role = bySession ? (cookie === null ? null : roleOfSession(cookie)) : roleOfToken(bearerOf(authorization));
  if (role === null) return { allowed: false, why: 'unauthorized' };
  if (reads) return { allowed: true, role };
  // SameSite lets other ports of this host through: the browser says who asked.
  if (bySession && origin !== null && !isSameHost(origin, host)) return { allowed: false, why: 'cross_origin' };
  if (role === 'operator' || (route === sessionRoute && method === 'DELETE')) return { allowed: true, role };
  return { allowed: false, why: 'forbidden' };
}

/** `''`, which is nobody's token, for anything but one bearer token. */
export function bearerOf(authorization: string): string {
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1] ?? '';
}

/** Whether `origin`, as a browser sends it, is a page of `host` itself. */
export function isSameHost(origin: string, host: string | null): boolean {
  return host !== null && /^https?:\/\//.test(origin) && origin.replace(/^https?:\/\//, '') === host;
}
