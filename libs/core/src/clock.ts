/** Time as the app gives it: core has none of its own. */
export interface Clock {
  /** Milliseconds that only grow; for ages and deadlines. */
  monotonicMs(): number;
  /** Unix milliseconds; for what people read and for what outlives the process. */
  wallMs(): number;
}
