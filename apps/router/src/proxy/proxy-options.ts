/** What the data plane needs to know of the configuration; durations in milliseconds. */
export interface ProxyOptions {
  /** Longest life of a request, from its arrival to the end of its answer. */
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** From the engine call to the first body byte of its answer. */
  readonly firstByteTimeoutMs: number;
  /** Between two body bytes of an engine, while the client keeps up. */
  readonly streamIdleTimeoutMs: number;
  /** How long the head of an answer waits for its first body byte; `null` = as long as the other limits allow. */
  readonly holdHeadMs: number | null;
  /** How long an idle engine connection is kept. Shorter than the 5 s after which uvicorn closes it. */
  readonly upstreamKeepaliveMs: number;
  readonly maxBodyBytes: number;
  /** How long an upload may take beyond one second for each KiB that has come. */
  readonly uploadGraceMs: number;
  /** Failed engine calls a request may have; 1 = no retries. */
  readonly retryMaxAttempts: number;
  readonly handoffMaxAgeMs: number;
  /** How long a request waits for workers that are only gated. */
  readonly gateWaitMs: number;
  /** Keys of which a client must present one; empty = none is asked for. */
  readonly clientApiKeys: readonly string[];
  /** Sent to engines on every call; `null` = none. */
  readonly engineApiKey: string | null;
  readonly exposeRouteHeaders: boolean;
  /** `none` replaces a forced `tool_choice` on the prefill leg, where one token cannot satisfy it. */
  readonly pdPrefillToolChoice: 'none' | 'keep';
  readonly version: string;
}
