import { durationBucket, durationBuckets, durationQuantile } from './duration-buckets.js';

/** What can be told of a stretch of time; shares and times are `null` where nothing was measured. */
export interface TrafficSums {
  finished: number;
  failed: number;
  tokens: number;
  matchedBytes: number;
  keyedBytes: number;
  /** Sums over the moments at which they were looked at. */
  inflight: number;
  queued: number;
  looks: number;
}

const fields = ['finished', 'failed', 'tokens', 'matchedBytes', 'keyedBytes', 'inflight', 'queued', 'looks'] as const satisfies readonly (keyof TrafficSums)[];

/** One slot, or several added up. */
export interface TrafficTotal extends TrafficSums {
  readonly firstByteMs: (q: number) => number | null;
}

/** A ring of equal slots of time with what happened in each. Its memory is fixed: about 450 bytes a slot. */
export class TrafficSlots {
  readonly slotMs: number;
  readonly #capacity: number;
  /** Which slot of the monotonic clock is kept where; -1 = none yet. */
  readonly #stamps: Float64Array;
  readonly #sums: Float64Array;
  readonly #firstBytes: Uint32Array;

  constructor(slotMs: number, capacity: number) {
    this.slotMs = slotMs;
    this.#capacity = capacity;
    this.#stamps = new Float64Array(capacity).fill(-1);
    this.#sums = new Float64Array(capacity * fields.length);
    this.#firstBytes = new Uint32Array(capacity * durationBuckets);
  }

  /** Adds to the slot of `nowMs`. O(1), but for the first time in a slot. */
  add(nowMs: number, sums: Partial<TrafficSums>, firstByteMs: number | null): void {
    const at = this.#enter(this.slotOf(nowMs));
    for (const [offset, field] of fields.entries()) {
      const value = sums[field];
      if (value !== undefined) this.#sums[at * fields.length + offset] = (this.#sums[at * fields.length + offset] ?? 0) + value;
    }
    if (firstByteMs === null) return;
    const bucket = at * durationBuckets + durationBucket(firstByteMs);
    this.#firstBytes[bucket] = (this.#firstBytes[bucket] ?? 0) + 1;
  }

  slotOf(nowMs: number): number {
    return Math.floor(nowMs / this.slotMs);
  }

  /** Whether anything was added to slot `slot`, and it is still kept. */
  has(slot: number): boolean {
    return this.#stamps[slot % this.#capacity] === slot;
  }

  /** Slots `from` to `to`, both included, added up. O(slots × buckets). */
  total(from: number, to: number): TrafficTotal {
    const sums: TrafficSums = { finished: 0, failed: 0, tokens: 0, matchedBytes: 0, keyedBytes: 0, inflight: 0, queued: 0, looks: 0 };
    const counts = new Float64Array(durationBuckets);
    for (let slot = Math.max(0, from, to - this.#capacity + 1); slot <= to; slot += 1) {
      if (!this.has(slot)) continue;
      const at = slot % this.#capacity;
      for (const [offset, field] of fields.entries()) sums[field] += this.#sums[at * fields.length + offset] ?? 0;
      for (let bucket = 0; bucket < durationBuckets; bucket += 1) counts[bucket] = (counts[bucket] ?? 0) + (this.#firstBytes[at * durationBuckets + bucket] ?? 0);
    }
    return { ...sums, firstByteMs: (q) => durationQuantile(counts, q) };
  }

  #enter(slot: number): number {
    const at = slot % this.#capacity;
    if (this.#stamps[at] === slot) return at;
    this.#stamps[at] = slot;
    this.#sums.fill(0, at * fields.length, (at + 1) * fields.length);
    this.#firstBytes.fill(0, at * durationBuckets, (at + 1) * durationBuckets);
    return at;
  }
}
