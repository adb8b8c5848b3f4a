import type { HandoffView, LiveChange, LiveDelta, LiveSnapshot, OverviewNow, PoolsView, WorkerView } from '@switchyard/core/contracts';

/** The cluster as the router last told it. */
export interface LivePicture {
  readonly seq: number;
  readonly workers: ReadonlyMap<string, WorkerView>;
  /** When each worker's view arrived, on this page's monotonic clock: its ages count on from there. */
  readonly arrivedMs: ReadonlyMap<string, number>;
  readonly pools: PoolsView;
  readonly overview: OverviewNow;
  readonly handoffs: readonly HandoffView[];
  readonly handoffsArrivedMs: number;
}

/** The picture of a snapshot that arrived at `nowMs`. */
export function pictureOf({ seq, state }: LiveSnapshot, nowMs: number): LivePicture {
  return {
    seq,
    workers: new Map(state.workers.map((worker) => [worker.id, worker])),
    arrivedMs: new Map(state.workers.map((worker) => [worker.id, nowMs])),
    pools: state.pools,
    overview: state.overview,
    handoffs: state.handoffs,
    handoffsArrivedMs: nowMs,
  };
}

/** The picture after a delta; `null` when messages before it are missing. */
export function withDelta(picture: LivePicture, delta: LiveDelta, nowMs: number): LivePicture | null {
  if (delta.from !== picture.seq) return null;
  const draft: Draft = { ...picture, seq: delta.seq };
  for (const change of delta.changes) apply(draft, change, picture, nowMs);
  return draft;
}

type Draft = { -readonly [K in keyof LivePicture]: LivePicture[K] };

function apply(draft: Draft, change: LiveChange, before: LivePicture, nowMs: number): void {
  switch (change.op) {
    case 'set':
      ownMaps(draft, before);
      (draft.workers as Map<string, WorkerView>).set(change.worker.id, change.worker);
      (draft.arrivedMs as Map<string, number>).set(change.worker.id, nowMs);
      return;
    case 'del':
      ownMaps(draft, before);
      (draft.workers as Map<string, WorkerView>).delete(change.id);
      (draft.arrivedMs as Map<string, number>).delete(change.id);
      return;
    case 'pools':
      draft.pools = change.pools;
      return;
    case 'overview':
      draft.overview = change.overview;
      return;
    case 'handoffs':
      draft.handoffs = change.handoffs;
      draft.handoffsArrivedMs = nowMs;
      return;
    default:
      change satisfies never;
  }
}

/** Copies the maps at the first change of a delta: what is painted now must not change under React. */
function ownMaps(draft: Draft, before: LivePicture): void {
  if (draft.workers !== before.workers) return;
  draft.workers = new Map(before.workers);
  draft.arrivedMs = new Map(before.arrivedMs);
}
