import type { RequestView } from '@switchyard/core/contracts';

import { outcomeOf } from './receipt-words.js';

export const stateChoices = ['all', 'inflight', 'recent'] as const;
export type StateChoice = (typeof stateChoices)[number];
export const outcomeChoices = ['all', 'good', 'neutral', 'bad'] as const;
export type OutcomeChoice = (typeof outcomeChoices)[number];

export interface RequestFilter {
  readonly state: StateChoice;
  readonly outcome: OutcomeChoice;
  /** Worker id of any phase; `''` = any. */
  readonly worker: string;
  /** `''` = any. */
  readonly model: string;
  readonly text: string;
}

export const noFilter: RequestFilter = { state: 'all', outcome: 'all', worker: '', model: '', text: '' };

/** Kept in the address, so that a filtered list can be sent to somebody. */
export function readFilter(search: string): RequestFilter {
  const query = new URLSearchParams(search);
  const one = <T extends string>(name: string, choices: readonly T[], fallback: T): T => choices.find((choice) => choice === query.get(name)) ?? fallback;
  return {
    state: one('state', stateChoices, 'all'),
    outcome: one('outcome', outcomeChoices, 'all'),
    worker: query.get('worker') ?? '',
    model: query.get('model') ?? '',
    text: query.get('q') ?? '',
  };
}

/** The filter as the query of an address; `''` when it lets everything through. */
export function writeFilter({ state, outcome, worker, model, text }: RequestFilter): string {
  const query = new URLSearchParams();
  if (state !== 'all') query.set('state', state);
  if (outcome !== 'all') query.set('outcome', outcome);
  if (worker !== '') query.set('worker', worker);
  if (model !== '') query.set('model', model);
  if (text !== '') query.set('q', text);
  return query.toString();
}

/** The admin API's path of what it can filter itself; outcome and text are for `fits`. */
export function requestsPath({ state, worker, model }: RequestFilter, limit: number): string {
  const query = new URLSearchParams({ limit: String(limit) });
  if (state !== 'all') query.set('state', state);
  if (worker !== '') query.set('worker', worker);
  if (model !== '') query.set('model', model);
  return `/api/v1/requests?${query.toString()}`;
}

/** Whether a request that the router gave passes the rest of the filter. */
export function fits(request: RequestView, { outcome, text }: RequestFilter): boolean {
  const { tone, word } = outcomeOf(request);
  if (outcome !== 'all' && tone !== outcome) return false;
  const sought = text.trim().toLowerCase();
  if (sought === '') return true;
  const { requestId, route, model, status, prefillId, decodeId, singleId } = request;
  return [requestId, route, model, status, prefillId, decodeId, singleId, word].some((part) => part !== null && String(part).toLowerCase().includes(sought));
}
