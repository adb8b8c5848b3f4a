import { type Phase } from '../words.js';

/** A worker's record of one live lease. The request owns the other half: the grant that ends it. */
export interface LeaseRecord {
  readonly grantId: number;
  readonly requestKey: number;
  readonly requestId: string;
  readonly phase: Phase;
  readonly model: string | null;
  readonly stream: boolean;
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
}

export type HoldKind = 'kvOut' | 'bound';

/** A worker's record of a claim that is not load but forbids calling it drained. */
export interface HoldRecord {
  readonly grantId: number;
  readonly requestKey: number;
  readonly requestId: string;
  readonly kind: HoldKind;
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
}
