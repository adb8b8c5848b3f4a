import { AdminError, call, refusalOf } from '../api/client.js';
import { refresh } from '../api/queries.js';
import { tell } from '../parts/toasts.js';
import { type ActionCall, undrainCall, type Target } from './action-calls.js';

export type Performed = { readonly ok: true } | { readonly ok: false; readonly error: AdminError };

/** Sends an action; what it changed is shown when the router says so, never before. */
export async function perform({ method, path, body }: ActionCall): Promise<Performed> {
  try {
    await call(path, { method, ...(body === undefined ? {} : { body }) });
    return { ok: true };
  } catch (error) {
    if (error instanceof AdminError) return { ok: false, error };
    throw error;
  } finally {
    refresh('/api/v1/workers', '/api/v1/quarantine', '/api/v1/drains', '/api/v1/departed', '/api/v1/events');
  }
}

/** Says what was refused and what to do. */
export function tellRefusal(title: string, error: unknown): void {
  tell({ tone: 'down', title, message: refusalOf(error) });
}

export async function undrain(targets: readonly Target[]): Promise<void> {
  for (const target of targets) {
    const done = await perform(undrainCall(target));
    if (!done.ok) tellRefusal(`${target.id} was not undrained`, done.error);
  }
}
