import { type RequestClose, type OpenRequest, type RequestKey } from './scheduler-port.js';
import { type AttemptReceipt } from './receipt.js';

/** What is kept of one request, open or closed. Times: `atMs` Unix, the rest monotonic milliseconds. */
export interface RequestRecord extends OpenRequest {
  readonly atMs: number;
  readonly openedAtMs: number;
  readonly attempts: AttemptReceipt[];
  prefillId: string | null;
  decodeId: string | null;
  /** Worker of an undivided request. */
  singleId: string | null;
  /** Bytes its prefix key covers; `null` before the first placement. */
  promptBytes: number | null;
  /** Waited for a worker before the first placement. */
  queuedMs: number | null;
  prefillMs: number | null;
  handoffMs: number | null;
  firstByteMs: number | null;
  closed: (RequestClose & { readonly totalMs: number }) | null;
}

/** Open requests, and the most recent closed ones. */
export class RequestLog {
  readonly #capacity: number;
  readonly #dropped: (record: RequestRecord) => void;
  readonly #open = new Map<RequestKey, RequestRecord>();
  readonly #recent: RequestRecord[] = [];
  #oldest = 0;

  /** `dropped` is told of closed requests that make room for younger ones. */
  constructor(dropped: (record: RequestRecord) => void, capacity = 2_000) {
    this.#dropped = dropped;
    this.#capacity = capacity;
  }

  open(request: OpenRequest, atMs: number, openedAtMs: number): RequestRecord {
    const { requestKey, requestId, route, model, stream } = request;
    // Field by field: a spread costs more than all the rest of a placement over a few workers.
    const record: RequestRecord = {
      requestKey,
      requestId,
      route,
      model,
      stream,
      atMs,
      openedAtMs,
      attempts: [],
      prefillId: null,
      decodeId: null,
      singleId: null,
      promptBytes: null,
      queuedMs: null,
      prefillMs: null,
      handoffMs: null,
      firstByteMs: null,
      closed: null,
    };
    this.#open.set(request.requestKey, record);
    return record;
  }

  close(requestKey: RequestKey, close: RequestClose, nowMs: number): RequestRecord | undefined {
    const record = this.#open.get(requestKey);
    if (record === undefined) return undefined;
    this.#open.delete(requestKey);
    record.closed = { ...close, totalMs: nowMs - record.openedAtMs };
    if (this.#recent.length < this.#capacity) this.#recent.push(record);
    else {
      const oldest = this.#recent[this.#oldest];
      this.#recent[this.#oldest] = record;
      if (oldest !== undefined) this.#dropped(oldest);
      this.#oldest = (this.#oldest + 1) % this.#capacity;
    }
    return record;
  }

  isOpen(requestKey: RequestKey): boolean {
    return this.#open.has(requestKey);
  }

  get(requestKey: RequestKey): RequestRecord | undefined {
    return this.#open.get(requestKey);
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Open requests without a placement yet; costs a walk over the open ones. */
  get queuedCount(): number {
    let queued = 0;
    for (const { queuedMs } of this.#open.values()) if (queuedMs === null) queued += 1;
    return queued;
  }

  /** Open requests, oldest first. */
  get openRequests(): Iterable<RequestRecord> {
    return this.#open.values();
  }

  /** Closed requests, newest first. */
  *recentRequests(): Iterable<RequestRecord> {
    const { length } = this.#recent;
    for (let back = 1; back <= length; back += 1) {
      const record = this.#recent[(this.#oldest + length - back) % length];
      if (record !== undefined) yield record;
    }
  }

  /** The newest request shown under `requestId`; costs a walk over all kept ones. */
  find(requestId: string): RequestRecord | undefined {
    let found: RequestRecord | undefined;
    for (const record of this.#open.values()) if (record.requestId === requestId) found = record;
    if (found !== undefined) return found;
    for (const record of this.recentRequests()) if (record.requestId === requestId) return record;
    return undefined;
  }
}

/** Prompt bytes that the worker of the last prefill (or undivided call) was believed to hold. */
export function matchedBytes({ attempts }: RequestRecord): number {
  return attempts.findLast(({ phase }) => phase !== 'decode')?.chosenMatchBytes ?? 0;
}
