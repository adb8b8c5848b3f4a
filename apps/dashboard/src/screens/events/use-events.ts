import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import type { EventView } from '@switchyard/core/contracts';
import { useEffect, useMemo } from 'react';

import { type AdminError } from '../../api/client.js';
import { useLive } from '../../live/live-store.js';
import { type EventPage, type EventType, mergedEvents, readEvents } from './event-pages.js';

export interface EventStream {
  /** Newest first. */
  readonly events: readonly EventView[];
  readonly isPending: boolean;
  readonly error: AdminError | null;
  readonly hasOlder: boolean;
  readonly isReadingOlder: boolean;
  readonly readOlder: () => void;
  readonly retry: () => void;
}

const withoutLiveMs = 5000;

/** Events of `types` (none = all): what the router kept, page by page, and what it tells live. */
export function useEvents(types: readonly EventType[]): EventStream {
  const phase = useLive(({ link }) => link.phase);
  const heard = useLive(({ events }) => events);
  const pages = useInfiniteQuery<EventPage, AdminError, InfiniteData<EventPage>, readonly unknown[], number | null>({
    queryKey: ['/api/v1/events', 'pages', types],
    queryFn: ({ pageParam, signal }) => readEvents(types, pageParam, signal),
    initialPageParam: null,
    getNextPageParam: ({ from }) => (from > 1 ? from : undefined),
    // Without the live stream the page asks itself; with it, only what was missed before it began.
    ...(phase === 'connecting' || phase === 'stale' ? { refetchInterval: withoutLiveMs } : {}),
    refetchOnWindowFocus: false,
    staleTime: Infinity,
    gcTime: 0,
  });
  const { refetch, fetchNextPage } = pages;
  useEffect(() => {
    if (phase === 'live') void refetch();
  }, [phase, refetch]);
  const events = useMemo(() => mergedEvents(pages.data?.pages ?? [], heard, types), [pages.data, heard, types]);
  return {
    events,
    isPending: pages.isPending,
    error: pages.error,
    hasOlder: pages.hasNextPage,
    isReadingOlder: pages.isFetchingNextPage,
    readOlder: () => void fetchNextPage(),
    retry: () => void refetch(),
  };
}
