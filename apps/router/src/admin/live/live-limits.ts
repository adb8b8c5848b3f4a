/** Bounds of the live stream; durations in milliseconds. */
export interface LiveLimits {
  /** Between two deltas, but for what operators do. */
  readonly intervalMs: number;
  /** Between two deltas in any case. */
  readonly urgentIntervalMs: number;
  /** A viewer that has not taken what it was sent for this long is dropped. */
  readonly stalledAfterMs: number;
  /** In which a connection has to present its token. */
  readonly tokenWithinMs: number;
  readonly mostSocketsPerAddress: number;
  readonly mostSockets: number;
}

export const liveLimits: LiveLimits = {
  intervalMs: 250,
  urgentIntervalMs: 50,
  stalledAfterMs: 10_000,
  tokenWithinMs: 3_000,
  mostSocketsPerAddress: 64,
  mostSockets: 512,
};

export const LIVE_LIMITS = Symbol('LIVE_LIMITS');
