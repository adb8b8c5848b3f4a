/** Buckets of a doubling: a quantile is off by at most half a bucket, 6 %. */
const perDoubling = 6;

/** Number of buckets: below 1 ms, and up to about 55 s; the last one takes the rest. */
export const durationBuckets = 96;

/** Bucket of a duration in milliseconds. */
export function durationBucket(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(durationBuckets - 1, 1 + Math.floor(Math.log2(ms) * perDoubling));
}

/** Nearest-rank quantile `q` of durations counted by bucket, in milliseconds; `null` of none. O(buckets). */
export function durationQuantile(counts: ArrayLike<number>, q: number): number | null {
  let all = 0;
  for (let bucket = 0; bucket < durationBuckets; bucket += 1) all += counts[bucket] ?? 0;
  if (all === 0) return null;
  let below = Math.max(1, Math.ceil(all * q));
  for (let bucket = 0; bucket < durationBuckets; bucket += 1) {
    const count = counts[bucket] ?? 0;
    // The middle of its bucket, whatever its rank there: equal durations must not be spread over it.
    if (below <= count) return bucket === 0 ? 0.5 : 2 ** ((bucket - 0.5) / perDoubling);
    below -= count;
  }
  return null;
}
