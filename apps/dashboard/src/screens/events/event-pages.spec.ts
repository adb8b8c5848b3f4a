import type { EventView } from '@switchyard/core/contracts';

import { type EventPage, mergedEvents, readEvents } from './event-pages.js';

const event = (eventSeq: number, type: EventView['type'] = 'late'): EventView => ({ eventSeq, at: '2026-01-01T00:00:00.000Z', type, detail: {} });

/** Answers as the admin API does, from a log. */
function serve(log: readonly EventView[]): string[] {
  const asked: string[] = [];
  globalThis.fetch = (path) => {
    if (typeof path !== 'string') throw new Error('a path is expected');
    asked.push(path);
    const query = new URL(path, 'http://router').searchParams;
    const limit = Number(query.get('limit'));
    const types = query.get('type')?.split(',');
    const after = query.get('after');
    const found = log.filter(({ type, eventSeq }) => (types === undefined || types.includes(type)) && (after === null || eventSeq > Number(after)));
    return Promise.resolve(Response.json({ items: after === null ? found.slice(-limit) : found.slice(0, limit), seq: 1 }));
  };
  return asked;
}

async function readAll(types: readonly EventView['type'][]): Promise<EventPage[]> {
  const pages = [await readEvents(types, null, new AbortController().signal)];
  for (let from = pages[0]!.from; from > 1; from = pages.at(-1)!.from) pages.push(await readEvents(types, from, new AbortController().signal));
  return pages;
}

describe('paging back through the events', () => {
  const realFetch = globalThis.fetch;
  afterEach(() => {
    globalThis.fetch = realFetch;
  });

  it('reads every event once, page by page', async () => {
    const log = Array.from({ length: 2345 }, (_, at) => event(at + 1));
    serve(log);
    const pages = await readAll([]);
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.flatMap(({ items }) => items).length).toBe(log.length);
    expect(mergedEvents(pages, [], []).map(({ eventSeq }) => eventSeq)).toEqual(log.map(({ eventSeq }) => eventSeq).reverse());
  });

  it('looks through long stretches without what is sought', async () => {
    serve([event(5, 'drain'), ...Array.from({ length: 9000 }, (_, at) => event(at + 6)), ...Array.from({ length: 250 }, (_, at) => event(at + 9100, 'drain'))]);
    const pages = await readAll(['drain']);
    expect(mergedEvents(pages, [], ['drain'])).toHaveLength(251);
  });

  it('needs one question where one page holds all', async () => {
    const asked = serve([event(7), event(8)]);
    expect(await readAll([])).toEqual([{ items: [event(7), event(8)], from: 1 }]);
    expect(asked).toEqual(['/api/v1/events?limit=200']);
  });

  it('ends where the kept log begins', async () => {
    serve(Array.from({ length: 300 }, (_, at) => event(at + 50_000)));
    const pages = await readAll([]);
    expect(mergedEvents(pages, [], [])).toHaveLength(300);
    expect(pages.at(-1)?.from).toBe(1);
  });

  it('takes what was heard live once, and of the asked types only', () => {
    const merged = mergedEvents([{ items: [event(1), event(2)], from: 1 }], [event(3), event(2), event(4, 'drain')], ['late']);
    expect(merged.map(({ eventSeq }) => eventSeq)).toEqual([3, 2, 1]);
  });
});
