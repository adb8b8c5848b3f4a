import { type ErrorCode } from './errors/error-codes.js';
import { type RouteTemplate } from './proxy-telemetry.js';

/** The part of a logger that the data plane writes to; pino's fits. */
export interface ProxyLog {
  isLevelEnabled(level: 'info' | 'error'): boolean;
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface AccessRecord {
  readonly method: string;
  readonly route: RouteTemplate;
  readonly status: number | null;
  readonly outcome: string;
  readonly error: ErrorCode | null;
  readonly model: string | null;
  readonly requestId: string;
  readonly workers: readonly string[];
  readonly elapsedMs: number;
}

/** One line a request: never a prompt, a key or an unescaped byte of what a client sent. */
export function logAccess(log: ProxyLog, record: AccessRecord): void {
  if (!log.isLevelEnabled('info')) return;
  const { method, route, status, outcome, model, requestId, workers, elapsedMs } = record;
  log.info({ method, route, status, outcome, model: model === null ? null : printable(model), requestId, workers, ms: Math.round(elapsedMs * 10) / 10 }, 'request');
}

/** At most 128 characters, control characters and everything beyond ASCII replaced. */
function printable(text: string): string {
  return text.slice(0, 128).replace(/[^\x20-\x7e]/g, '?');
}
