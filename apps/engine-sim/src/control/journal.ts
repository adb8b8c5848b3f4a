import { type Phase } from '../kv/kv-connector.js';
import { type ViolationCode } from '../kv/violation.js';
import { type RequestRecord, unixNowMs } from './request-record.js';

export interface ViolationRecord {
  readonly at: string;
  readonly code: ViolationCode;
  readonly message: string;
  readonly requestId: string | null;
  readonly phase: Phase;
  readonly route: string;
}

export interface RecordFilter {
  readonly requestId: string | null;
  readonly phase: string | null;
  readonly route: string | null;
  readonly sinceSeq: number;
  readonly limit: number;
}

const keptViolations = 1000;

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The engine's bounded memory of what was asked of it. */
export class Journal {
  readonly #limit: number;
  readonly #records: RequestRecord[] = [];
  readonly #violations: ViolationRecord[] = [];
  readonly #byRoute = new Map<string, number>();
  readonly #byPhase = new Map<string, number>();
  readonly #byStatus = new Map<string, number>();
  #total = 0;
  #aborted = 0;
  #violationCount = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  nextSeq(): number {
    this.#total += 1;
    return this.#total;
  }

  countRoute(route: string): void {
    count(this.#byRoute, route);
  }

  open(record: RequestRecord): void {
    this.countRoute(record.route);
    this.#records.push(record);
    if (this.#records.length > this.#limit) this.#records.shift();
  }

  countPhase(phase: Phase): void {
    count(this.#byPhase, phase);
  }

  close(record: RequestRecord, aborted: boolean): void {
    record.endedAtMs = unixNowMs();
    record.aborted = aborted;
    if (aborted) this.#aborted += 1;
    if (record.status !== null) count(this.#byStatus, String(record.status));
  }

  violation(record: RequestRecord, phase: Phase, code: ViolationCode, message: string): void {
    this.#violationCount += 1;
    record.violation = code;
    this.#violations.push({ at: new Date().toISOString(), code, message, requestId: record.requestId, phase, route: record.route });
    if (this.#violations.length > keptViolations) this.#violations.shift();
  }

  /** Oldest first. */
  find(filter: RecordFilter): RequestRecord[] {
    const matches = this.#records.filter(
      (record) =>
        record.seq > filter.sinceSeq &&
        (filter.requestId === null || (record.requestId?.includes(filter.requestId) ?? false)) &&
        (filter.phase === null || record.phase === filter.phase) &&
        (filter.route === null || record.route === filter.route),
    );
    return matches.slice(-filter.limit);
  }

  summary(): object {
    return {
      requests: {
        total: this.#total,
        aborted: this.#aborted,
        byRoute: Object.fromEntries(this.#byRoute),
        byPhase: Object.fromEntries(this.#byPhase),
        byStatus: Object.fromEntries(this.#byStatus),
      },
      violationCount: this.#violationCount,
      violations: this.#violations,
    };
  }
}
