import type { SessionAnswer } from '@switchyard/core/contracts';

import { call } from './client.js';
import { queryClient } from './queries.js';

const sessionPath = '/api/v1/session';

/** Trades a token for a session cookie. @throws {AdminError} when it is refused. */
export async function logIn(token: string): Promise<void> {
  const session = await call<SessionAnswer>(sessionPath, { method: 'POST', body: { token } });
  // All but the session itself, which the page is watching: of what is cleared it would hear no more.
  queryClient.removeQueries({ predicate: ({ queryKey: [path] }) => path !== sessionPath });
  queryClient.setQueryData([sessionPath], session);
}

export async function logOut(): Promise<void> {
  await call(sessionPath, { method: 'DELETE' });
  await queryClient.resetQueries({ queryKey: [sessionPath] });
}

/**
 * Logs in by the `#token=` of a link. The token leaves the address bar and the history before it is sent; a refused one
 * leads to the login screen.
 */
export async function loginFromAddress(): Promise<void> {
  const token = /^#token=(.+)$/.exec(window.location.hash)?.[1];
  if (token === undefined) return;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  try {
    await logIn(decodeURIComponent(token));
  } catch {
    // The login screen asks for a better one.
  }
}
