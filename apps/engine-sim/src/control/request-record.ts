import { type IncomingHttpHeaders } from 'node:http';
import { type Phase } from '../kv/kv-connector.js';

/** Everything a test may want to know of one call. Times are Unix ms with fractions. */
export interface RequestRecord {
  readonly seq: number;
  readonly requestId: string | null;
  readonly method: string;
  readonly route: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly connection: number;
  readonly requestOnConnection: number;
  readonly receivedAtMs: number;
  phase: Phase | null;
  model: string | null;
  stream: boolean;
  bodyBytes: number;
  bodySha256: string | null;
  bodyText: string;
  promptTokens: number | null;
  cachedTokens: number | null;
  handOff: 'none' | 'issued' | 'claimed';
  faults: readonly string[];
  violation: string | null;
  status: number | null;
  responseBytes: number;
  responseSha256: string | null;
  events: number;
  finishReason: string | null;
  headAtMs: number | null;
  firstByteAtMs: number | null;
  endedAtMs: number | null;
  aborted: boolean;
}

/** Unix time in ms, with fractions; comparable between processes of one machine. */
export function unixNowMs(): number {
  return performance.timeOrigin + performance.now();
}
