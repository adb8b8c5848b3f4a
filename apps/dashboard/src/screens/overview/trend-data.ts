import type { SeriesName, SeriesPoint } from '@switchyard/core/contracts';

import { type TrendData } from './trend-chart.js';

export type History = Partial<Record<SeriesName, readonly SeriesPoint[]>>;

/** Seconds drawn as one point: a tile has fewer pixels than the router has seconds. */
const bucketMs = 5000;
/** What an alarm is about is drawn at its worst, not at its mean. */
const worst: ReadonlySet<SeriesName> = new Set(['ttftP95Ms', 'errorShare', 'queued']);

/** The points of some series in buckets, over the times of the first. */
export function trendOf(names: readonly SeriesName[], history: History | undefined): TrendData {
  const buckets = names.map((name) => bucketsOf(history?.[name] ?? [], worst.has(name)));
  const at = [...(buckets[0]?.keys() ?? [])];
  return { at: at.map((bucket) => (bucket * bucketMs) / 1000), values: buckets.map((one) => at.map((bucket) => one.get(bucket) ?? null)) };
}

function bucketsOf(points: readonly SeriesPoint[], isWorst: boolean): ReadonlyMap<number, number | null> {
  const found = new Map<number, { value: number; count: number } | null>();
  for (const [at, value] of points) {
    const bucket = Math.floor(at / bucketMs);
    const before = found.get(bucket) ?? null;
    if (value === null || before === null) found.set(bucket, value === null ? before : { value, count: 1 });
    else found.set(bucket, { value: isWorst ? Math.max(before.value, value) : before.value + value, count: isWorst ? 1 : before.count + 1 });
  }
  return new Map([...found].map(([bucket, sum]) => [bucket, sum === null ? null : sum.value / sum.count]));
}
