import type { EventView, HandoffView, WorkerView } from '@switchyard/core/contracts';

import { duration, plural } from '../../parts/format.js';
import { ledgerOf } from '../../parts/load-ledger.js';
import { type StatusTone } from '../../parts/worker-status.js';
import { pairingGroupsOf, verdictOf } from './pairing-groups.js';

/** Something an operator should know, in one sentence. */
export interface Attention {
  readonly key: string;
  readonly tone: StatusTone;
  readonly text: string;
  /** What the sentence is about. */
  readonly workerId?: string;
}

export interface AttentionInput {
  readonly workers: readonly WorkerView[];
  readonly handoffs: readonly HandoffView[];
  readonly events: readonly EventView[];
  /** Milliseconds since a worker's view arrived. */
  readonly sinceArrivalMs: (workerId: string) => number;
  readonly nowMs: number;
}

const returnsShownMs = 5 * 60_000;
const toneOrder: readonly StatusTone[] = ['down', 'late', 'draining', 'drained', 'evicted', 'ready'];

/** Worst first. */
export function attentionOf(input: AttentionInput): readonly Attention[] {
  const found = [
    ...ofCluster(input),
    ...input.workers.flatMap((worker) => ofWorker(worker, input.sinceArrivalMs(worker.id))),
    ...ofHandoffs(input.handoffs),
    ...ofReturns(input),
  ];
  return found.sort((a, b) => toneOrder.indexOf(a.tone) - toneOrder.indexOf(b.tone));
}

function ofCluster({ workers }: AttentionInput): Attention[] {
  const verdict = verdictOf(workers);
  const found: Attention[] = [];
  if (verdict.kind === 'down') found.push({ key: 'cluster', tone: 'down', text: `${capital(verdict.why)}: clients get 503.` });
  if (verdict.kind === 'partly') found.push({ key: 'models', tone: 'down', text: `No request for ${verdict.unserved.join(', ')} can be placed: clients get 503.` });
  for (const { name, warning } of pairingGroupsOf(workers)) {
    if (warning !== null && verdict.kind !== 'down') found.push({ key: `group ${name}`, tone: 'late', text: `Pairing group ${name}: ${lower(warning)}` });
  }
  return found;
}

function ofWorker(worker: WorkerView, sinceMs: number): Attention[] {
  const { id, drain, flaps } = worker;
  const found: Attention[] = [];
  const say = (what: string, tone: StatusTone, text: string): void => {
    found.push({ key: `${id} ${what}`, tone, text: `${id} ${text}`, workerId: id });
  };
  const lastHeard = worker.heartbeatAgeMs === null ? '' : `: last heartbeat ${secs(worker.heartbeatAgeMs + sinceMs)} ago`;
  if (worker.adminState !== 'drained') {
    if (worker.heartbeat === 'lost') say('heartbeat', 'down', `lost its heartbeat${lastHeard}.`);
    if (worker.heartbeat === 'late') say('heartbeat', 'late', `is late${lastHeard}.`);
    if (worker.health === 'unhealthy') say('health', 'down', 'fails its health checks.');
    if (worker.health === 'suspect') say('health', 'late', 'answers health checks, but requests on it hang.');
    if (worker.health === 'unknown') say('health', 'late', 'has not passed a health check yet.');
    if (worker.circuit !== 'closed') say('circuit', worker.circuit === 'open' ? 'down' : 'late', `has its circuit ${worker.circuit === 'open' ? 'open: calls to it failed too often' : 'half open: single calls try it'}.`);
    if (worker.unselectableBecause.includes('connector_unsupported')) say('connector', 'down', `uses ${worker.connector.kind} in a mode that cannot be driven.`);
  }
  if (drain?.overdue === true) say('drain', 'late', `is past its drain deadline with ${plural(worker.load, 'request')} in flight.`);
  if (worker.adminState === 'drained' && worker.safeToStop) say('drained', 'drained', 'is drained: safe to stop.');
  if (flaps.flapping) say('flaps', 'late', `flaps: ${plural(flaps.joinsLastHour, 'join')} and ${plural(flaps.leavesLastHour, 'leave')} in the last hour.`);
  const ledger = ledgerOf(worker);
  if (ledger?.isDrifting === true) {
    say('drift', 'late', `reports ${plural(ledger.running + ledger.waiting, 'request')}, the router has ${ledger.router} on it.`);
  }
  return found;
}

function ofHandoffs(handoffs: readonly HandoffView[]): Attention[] {
  const stranded = handoffs.filter(({ stage }) => stage === 'stranded');
  if (stranded.length === 0) return [];
  const on = [...new Set(stranded.map(({ prefillId }) => prefillId))].join(', ');
  return [{ key: 'stranded', tone: 'late', text: `${plural(stranded.length, 'stranded KV hand-off')} on ${on}: the client left, the engine still keeps the cache.` }];
}

function ofReturns({ events, nowMs, workers }: AttentionInput): Attention[] {
  const present = new Set(workers.map(({ id }) => id));
  return events
    .filter(({ type, at, worker }) => type === 'replaced' && worker !== undefined && present.has(worker) && nowMs - Date.parse(at) < returnsShownMs)
    .map(({ eventSeq, worker = '', detail }) => ({
      key: `event ${eventSeq}`,
      tone: 'ready' as const,
      text: `${String(detail['replaces'] ?? 'a worker')} returned as ${worker} after a restart.`,
      workerId: worker,
    }));
}

const secs = (ms: number): string => (ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms));
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
