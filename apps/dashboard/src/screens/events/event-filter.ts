import type { EventView } from '@switchyard/core/contracts';

import { eventSentence, operatorTypes, typeWord } from './event-words.js';

export type EventType = EventView['type'];

export const allTypes = [
  'registered',
  'replaced',
  'expired',
  'departed',
  'late',
  'health',
  'circuit',
  'drain',
  'drained',
  'undrain',
  'overdue',
  'evict',
  'readmit',
  'added',
  'removed',
  'config',
  'session',
  'takeover',
  'rejected',
] as const satisfies readonly EventType[];

export const kindChoices = ['all', 'cluster', 'operators'] as const;
export type KindChoice = (typeof kindChoices)[number];

export interface EventFilter {
  readonly kind: KindChoice;
  /** `''` = any of the kind. */
  readonly type: EventType | '';
  /** `''` = anybody and nobody. */
  readonly actor: string;
  readonly text: string;
}

export const noFilter: EventFilter = { kind: 'all', type: '', actor: '', text: '' };

/** Kept in the address, so that a filtered stream can be sent to somebody. */
export function readFilter(search: string): EventFilter {
  const query = new URLSearchParams(search);
  return {
    kind: kindChoices.find((kind) => kind === query.get('kind')) ?? 'all',
    type: allTypes.find((type) => type === query.get('type')) ?? '',
    actor: query.get('actor') ?? '',
    text: query.get('q') ?? '',
  };
}

/** The filter as the query of an address; `''` when it lets everything through. */
export function writeFilter({ kind, type, actor, text }: EventFilter): string {
  const query = new URLSearchParams();
  if (kind !== 'all') query.set('kind', kind);
  if (type !== '') query.set('type', type);
  if (actor !== '') query.set('actor', actor);
  if (text !== '') query.set('q', text);
  return query.toString();
}

/** Types to choose from within a kind. */
export const typesOf = (kind: KindChoice): readonly EventType[] =>
  kind === 'all' ? allTypes : allTypes.filter((type) => operatorTypes.has(type) === (kind === 'operators'));

/** Types to ask the router for; none = all. */
export function askedTypes({ kind, type }: EventFilter): readonly EventType[] {
  if (type !== '') return [type];
  return kind === 'all' ? [] : typesOf(kind);
}

/** Whether an event of an asked type passes the rest of the filter. */
export function fits(event: EventView, { actor, text }: EventFilter): boolean {
  if (actor !== '' && event.actor !== actor) return false;
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return true;
  const { worker = '', endpoint = '', role = '', reason = '', type } = event;
  const haystack = `${worker} ${endpoint} ${role} ${event.actor ?? ''} ${reason} ${typeWord(type)} ${eventSentence(event)}`.toLowerCase();
  return words.every((word) => haystack.includes(word));
}
