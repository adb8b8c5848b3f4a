import type { EventView } from '@switchyard/core/contracts';

import { call } from '../../api/client.js';
import { type Listed } from '../../api/listed.js';

export type EventType = EventView['type'];

export interface EventPage {
  /** Ascending. */
  readonly items: readonly EventView[];
  /** Every event from this number on, up to the page after, is in `items` when it is of the types asked for. */
  readonly from: number;
}

const pageSize = 200;
/** Numbers looked through for one page; more only when they hold nothing that was asked for. */
const spanSize = 1000;
const mostSpans = 20;

/** The newest events of `types` (none = all), or those before the number `before`. */
export async function readEvents(types: readonly EventType[], before: number | null, signal: AbortSignal): Promise<EventPage> {
  if (before === null) {
    const items = await ask(types, { limit: pageSize }, signal);
    const first = items[0]?.eventSeq;
    return { items, from: items.length < pageSize || first === undefined ? 1 : first };
  }
  let until = before;
  for (let span = 0; span < mostSpans && until > 1; span += 1) {
    const after = Math.max(0, until - 1 - spanSize);
    const items = (await ask(types, { after, limit: spanSize }, signal)).filter(({ eventSeq }) => eventSeq < until);
    until = after + 1;
    if (items.length > 0) return { items, from: until };
  }
  return { items: [], from: until };
}

async function ask(types: readonly EventType[], numbers: Readonly<Record<string, number>>, signal: AbortSignal): Promise<readonly EventView[]> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(numbers)) query.set(name, String(value));
  if (types.length > 0) query.set('type', types.join(','));
  return (await call<Listed<EventView>>(`/api/v1/events?${query.toString()}`, { signal })).items;
}

/** Pages and what was heard live in one list without doubles, newest first. */
export function mergedEvents(pages: readonly EventPage[], heard: readonly EventView[], types: readonly EventType[]): readonly EventView[] {
  const bySeq = new Map<number, EventView>();
  for (const { items } of pages) for (const event of items) bySeq.set(event.eventSeq, event);
  const wanted = new Set(types);
  for (const event of heard) if (wanted.size === 0 || wanted.has(event.type)) bySeq.set(event.eventSeq, event);
  return [...bySeq.values()].sort((a, b) => b.eventSeq - a.eventSeq);
}
