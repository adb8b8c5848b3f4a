import { type PoolCounts } from '@switchyard/core';

/** A model as `/v1/models` lists it. */
export interface ListedModel {
  readonly id: string;
  /** The entry as the engine gave it (`parent`, `root`, `max_model_len` …); `null` when only the id is known. */
  readonly entry: Readonly<Record<string, unknown>> | null;
}

/** What the data plane shows of the fleet. Synchronous and cheap: it is asked for every probe of the API port. */
export interface FleetView {
  /** Whether a request could be placed now, with the counts behind it. */
  readiness(): { readonly ready: boolean; readonly counts: PoolCounts };
  /** Models of live workers; an id may come several times. */
  models(): Iterable<ListedModel>;
}
