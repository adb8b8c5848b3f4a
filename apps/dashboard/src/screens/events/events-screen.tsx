import { Button, Group, Skeleton } from '@mantine/core';
import { type JSX, useMemo } from 'react';
import { useLocation } from 'wouter';
import { useSearch } from 'wouter/use-browser-location';

import { plural } from '../../parts/format.js';
import { EmptyState, Panel } from '../../parts/panel.js';
import { Refusal } from '../../parts/refusal.js';
import { Screen } from '../../parts/screen.js';
import { askedTypes, type EventFilter, fits, noFilter, readFilter, writeFilter } from './event-filter.js';
import { EventFilters } from './event-filters.js';
import { EventRows } from './event-rows.js';
import { useEvents } from './use-events.js';

/** What happened in the cluster, and who did what and why, in one stream. */
export function EventsScreen(): JSX.Element {
  const search = useSearch();
  const [, navigate] = useLocation();
  const filter = useMemo(() => readFilter(search), [search]);
  const types = useMemo(() => askedTypes(filter), [filter]);
  const stream = useEvents(types);
  const shown = useMemo(() => stream.events.filter((event) => fits(event, filter)), [stream.events, filter]);
  const isFiltered = writeFilter(filter) !== '';

  const setFilter = (next: EventFilter): void => {
    const query = writeFilter(next);
    navigate(query === '' ? '/events' : `/events?${query}`, { replace: true });
  };

  return (
    <Screen title="Events" about="The life of the workers and what operators did, newest first. The router keeps it across restarts when it has a data directory.">
      {stream.error !== null && <Refusal error={stream.error} onRetry={stream.retry} />}
      <Panel title="Stream" note={stream.isPending ? undefined : `${plural(shown.length, 'event')}${stream.hasOlder ? ', older ones below' : ''}`} flush>
        <EventFilters filter={filter} events={stream.events} onChange={setFilter} />
        {stream.isPending ? (
          <Waiting />
        ) : shown.length > 0 ? (
          <EventRows events={shown} hasOlder={stream.hasOlder} isReadingOlder={stream.isReadingOlder} onReadOlder={stream.readOlder} />
        ) : isFiltered || stream.hasOlder ? (
          <EmptyState title="No event fits">
            <p>{stream.hasOlder ? `Nothing among the newest ${plural(stream.events.length, 'event')} fits this filter.` : 'Nothing in the whole log fits this filter.'}</p>
            <Group justify="center" gap="xs">
              {stream.hasOlder && (
                <Button variant="default" loading={stream.isReadingOlder} onClick={stream.readOlder}>
                  Search older events
                </Button>
              )}
              <Button variant="default" onClick={() => setFilter(noFilter)}>
                Show all
              </Button>
            </Group>
          </EmptyState>
        ) : (
          stream.error === null && <EmptyState title="Nothing has happened yet">The first engine that registers, and everything operators do, is told here.</EmptyState>
        )}
      </Panel>
    </Screen>
  );
}

function Waiting(): JSX.Element {
  return (
    <div role="status" aria-label="Loading events" style={{ display: 'grid', gap: 8, padding: 12 }}>
      {[1, 2, 3, 4, 5, 6].map((line) => (
        <Skeleton key={line} height={26} />
      ))}
    </div>
  );
}
