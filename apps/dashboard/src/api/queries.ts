import { QueryClient, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type {
  AboutView,
  OverviewAnswer,
  SessionAnswer,
  WorkerDetailView,
} from '@switchyard/core/contracts';

import { AdminError, call } from './client.js';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 2 && error instanceof AdminError && (error.status === 0 || error.status >= 500),
      refetchOnWindowFocus: true,
      staleTime: 1000,
    },
    mutations: { retry: false },
  },
});

/** A list as the admin API gives it. */
export interface ListAnswer<T> {
  readonly items: readonly T[];
  readonly seq: number;
  readonly next?: number;
}

export interface AdminQuery {
  /** Reads again this often while the tab is seen; 0 or absent = once. */
  readonly everyMs?: number;
  readonly enabled?: boolean;
  /** Shows the last answer while the next one, under another path, is on its way. */
  readonly keepPrevious?: boolean;
}

/** Reads one path of the admin API; the path is the key, so that equal questions share one answer. */
export function useAdmin<T>(path: string, { everyMs, enabled = true, keepPrevious = false }: AdminQuery = {}): UseQueryResult<T, AdminError> {
  return useQuery<T, AdminError>({
    queryKey: [path],
    queryFn: ({ signal }) => call<T>(path, { signal }),
    enabled,
    ...(everyMs === undefined || everyMs === 0 ? {} : { refetchInterval: everyMs }),
    ...(keepPrevious ? { placeholderData: (previous: T | undefined) => previous as never } : {}),
  });
}

/** Reads again everything under these paths, e.g. after an operator's action. */
export function refresh(...paths: readonly string[]): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [key] }) => typeof key === 'string' && paths.some((path) => key.startsWith(path)),
  });
}

export const useSession = (): UseQueryResult<SessionAnswer, AdminError> =>
  useQuery<SessionAnswer, AdminError>({
    queryKey: ['/api/v1/session'],
    queryFn: ({ signal }) => call<SessionAnswer>('/api/v1/session', { signal }),
    retry: (failures, error) => error.status === 0 && failures < 1000,
    retryDelay: 1500,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });

/** Facts that hold while the router runs. */
export const useAbout = (): UseQueryResult<AboutView, AdminError> => useAdmin<AboutView>('/api/v1/about', { everyMs: 60_000 });

export const useWorkerDetail = (id: string, query: AdminQuery = { everyMs: 1000 }): UseQueryResult<WorkerDetailView, AdminError> =>
  useAdmin<WorkerDetailView>(`/api/v1/workers/${encodeURIComponent(id)}`, query);

export const useHistory = (windowSecs: number, everyMs: number): UseQueryResult<OverviewAnswer, AdminError> =>
  useAdmin<OverviewAnswer>(`/api/v1/overview?windowSecs=${windowSecs}`, { everyMs });

/** Whether this session may change anything; false until it is known. */
export function useMayAct(): boolean {
  return useSession().data?.role === 'operator';
}

