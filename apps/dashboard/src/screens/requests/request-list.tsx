import { Button, NativeSelect, Skeleton } from '@mantine/core';
import type { RequestView } from '@switchyard/core/contracts';
import { type JSX, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useSearch } from 'wouter/use-browser-location';

import { type Listed } from '../../api/listed.js';
import { useAdmin } from '../../api/queries.js';
import { useLive } from '../../live/live-store.js';
import { count, plural } from '../../parts/format.js';
import { EmptyState, Panel } from '../../parts/panel.js';
import { Refusal } from '../../parts/refusal.js';
import { Screen } from '../../parts/screen.js';
import { FirstRequest } from './first-request.js';
import { fits, noFilter, readFilter, type RequestFilter, requestsPath, writeFilter } from './request-filter.js';
import { RequestFilters } from './request-filters.js';
import { RequestRows } from './request-rows.js';

const limits = ['200', '500', '1000'] as const;
const noRequests: readonly RequestView[] = [];
const everyMs = 2000;

/** Requests in flight and recent ones, filtered by what the address says. */
export function RequestList(): JSX.Element {
  const search = useSearch();
  const [, navigate] = useLocation();
  const filter = useMemo(() => readFilter(search), [search]);
  const [limit, setLimit] = useState<string>(limits[0]);
  const following = useLive(({ link }) => link.phase !== 'paused');
  const answer = useAdmin<Listed<RequestView>>(requestsPath(filter, Number(limit)), { keepPrevious: true, ...(following ? { everyMs } : {}) });
  const given = answer.data?.items ?? noRequests;
  const shown = useMemo(() => given.filter((request) => fits(request, filter)), [given, filter]);
  const running = shown.reduce((sum, { state }) => sum + (state === 'inflight' ? 1 : 0), 0);

  const setFilter = (next: RequestFilter): void => {
    const query = writeFilter(next);
    navigate(query === '' ? '/requests' : `/requests?${query}`, { replace: true });
  };

  return (
    <Screen title="Requests" about="What runs and what ran. Each opens its receipt: where its time went, and why it ran where it ran.">
      {answer.error !== null && <Refusal error={answer.error} onRetry={() => void answer.refetch()} />}
      <Panel
        title="In flight and recent"
        note={answer.data === undefined ? undefined : `${count(running)} in flight · ${plural(shown.length - running, 'recent one')}`}
        flush
        side={
          <NativeSelect
            size="xs"
            aria-label="How many are read"
            data={limits.map((value) => ({ value, label: `up to ${count(Number(value))}` }))}
            value={limit}
            onChange={(event) => setLimit(event.currentTarget.value)}
          />
        }
      >
        <RequestFilters filter={filter} requests={given} onChange={setFilter} />
        {answer.isPending ? (
          <Waiting />
        ) : shown.length > 0 ? (
          <RequestRows requests={shown} />
        ) : given.length === 0 && search === '' ? (
          answer.error === null && <FirstRequest />
        ) : (
          <EmptyState title="No request fits">
            <p>Nothing among {plural(given.length, 'request')} fits this filter.</p>
            <Button variant="default" onClick={() => setFilter(noFilter)}>
              Show all
            </Button>
          </EmptyState>
        )}
      </Panel>
    </Screen>
  );
}

function Waiting(): JSX.Element {
  return (
    <div role="status" aria-label="Loading requests" style={{ display: 'grid', gap: 8, padding: 12 }}>
      {[1, 2, 3, 4, 5, 6].map((line) => (
        <Skeleton key={line} height={22} />
      ))}
    </div>
  );
}
