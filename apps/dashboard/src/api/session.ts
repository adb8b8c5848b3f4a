import type { SessionAnswer } from '@switchyard/core/contracts';

import { call } from './client.js';
import { queryClient } from './queries.js';

/** Trades a token for a session cookie. @throws {AdminError} when it is refused. */
export async function logIn(token: string): Promise<void> {
  const session = await call<SessionAnswer>('/api/v1/session', { method: 'POST', body: { token } });
  queryClient.clear();
  queryClient.setQueryData(['/api/v1/session'], session);
}

export async function logOut(): Promise<void> {
  await call('/api/v1/session', { method: 'DELETE' });
  await queryClient.resetQueries({ queryKey: ['/api/v1/session'] });
}

/**
 * Logs in by the `#token=` of a link. The token leaves the address bar and the history before it is sent; a refused one
 * leads to the login screen.
 */
export async function loginFromAddress(): Promise<void> {
  const token = /^#token=(.+)$/.exec(window.location.hash)?.[1];
  if (token === undefined) return;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  await logIn(decodeURIComponent(token)).catch(() => undefined);
}
