/** What operators may set of policies, while they run too. Only `cache_aware` has options. */
export interface PolicyOptions {
  /** Affinity only above this match rate, 0..1, strictly. */
  readonly cacheThreshold: number;
  /** Imbalanced only when the pressures of the candidates differ by more than this, strictly ... */
  readonly balanceAbsThreshold: number;
  /** ... and the largest is more than the smallest times this, strictly. */
  readonly balanceRelThreshold: number;
  /** Prompt bytes the prefix index covers per worker and model. */
  readonly prefixIndexMaxBytes: number;
}

export const defaultPolicyOptions: PolicyOptions = {
  cacheThreshold: 0.3,
  balanceAbsThreshold: 8,
  balanceRelThreshold: 1.5,
  prefixIndexMaxBytes: 268_435_456,
};
