import { type Cluster } from '../cluster.js';
import { type ReceiptView, type RequestView } from '../contracts/request.schema.js';
import { matchedBytes, type RequestRecord } from '../scheduling/request-log.js';
import { isoTimeOf } from './iso-time.js';

export interface RequestFilter {
  /** Absent = both, open ones first. */
  readonly state?: 'inflight' | 'recent' | undefined;
  /** Worker id of any phase. */
  readonly worker?: string | undefined;
  readonly model?: string | undefined;
  readonly limit: number;
}

/** Requests that fit, newest first within each state. Costs a walk over the kept ones. */
export function requestViews({ scheduler }: Cluster, { state, worker, model, limit }: RequestFilter): RequestView[] {
  const { requests } = scheduler;
  const views: RequestView[] = [];
  const take = (records: Iterable<RequestRecord>): void => {
    for (const record of records) {
      if (views.length >= limit) return;
      if (model !== undefined && record.model !== model) continue;
      if (worker !== undefined && record.prefillId !== worker && record.decodeId !== worker && record.singleId !== worker) continue;
      views.push(requestView(record));
    }
  };
  if (state !== 'recent') take([...requests.openRequests].reverse());
  if (state !== 'inflight') take(requests.recentRequests());
  return views;
}

export function requestView(record: RequestRecord): RequestView {
  const { requestId, atMs, route, model, stream, closed, prefillId, decodeId, singleId, firstByteMs } = record;
  return {
    requestId,
    at: isoTimeOf(atMs),
    route,
    model,
    stream,
    state: closed === null ? 'inflight' : 'recent',
    status: closed?.status ?? null,
    prefillId,
    decodeId,
    singleId,
    totalMs: closed?.totalMs ?? null,
    firstByteMs,
    outcome: closed?.outcome ?? null,
  };
}

/** Everything kept of one request: each attempt with the candidates it was chosen from. */
export function receiptView({ seq }: Cluster, record: RequestRecord): ReceiptView {
  const { attempts, closed, queuedMs, prefillMs, handoffMs, firstByteMs } = record;
  return {
    ...requestView(record),
    seq,
    attempts: attempts.map(({ phase, candidates, chosen, reason, margin, outcome }) => ({ phase, candidates, chosen, reason, margin, outcome })),
    timings: { queuedMs, prefillMs, handoffMs, firstByteMs, totalMs: closed?.totalMs ?? null },
    usage: closed?.usage ?? null,
    predictedCachedTokens: predictedCachedTokens(record),
    reportedCachedTokens: closed?.reportedCachedTokens ?? null,
  };
}

/** The matched part of the prompt, in the tokens the engine counted. */
function predictedCachedTokens(record: RequestRecord): number | null {
  const { closed, promptBytes } = record;
  if (closed?.usage == null || promptBytes === null || promptBytes === 0) return null;
  return Math.round((closed.usage.promptTokens * matchedBytes(record)) / promptBytes);
}
