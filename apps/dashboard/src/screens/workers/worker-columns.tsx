import type { WorkerView } from '@switchyard/core/contracts';
import { type ReactNode } from 'react';

import { Ago } from '../../parts/ago.js';
import { bytes, count, duration, percent, shortEndpoint } from '../../parts/format.js';
import { bySeverity, statusOf } from '../../parts/worker-status.js';
import { HeartbeatRing } from './heartbeat-ring.js';
import { CircuitCell, EngineCell, HealthCell, LoadCell, NameCell, StateCell } from './worker-cells.js';

export interface CellContext {
  /** Load that fills the bar. */
  readonly fullLoad: number;
  /** The page has no room for a line: names get a second one. */
  readonly isNarrow: boolean;
}

/** What some rows need more room for. */
export interface Crowd {
  readonly isNarrow: boolean;
  readonly hasDrains: boolean;
  readonly hasFlapping: boolean;
  /** A router without a durable store numbers generations by the time of day. */
  readonly hasLongNames: boolean;
}

export interface WorkerColumn {
  readonly id: string;
  readonly name: string;
  /** Of a CSS grid. */
  readonly width: (crowd: Crowd) => string;
  readonly align?: 'right';
  /** Least width of the page at which it is shown unless chosen otherwise; absent = always. */
  readonly fromPx?: number;
  /** Not shown until chosen. */
  readonly isExtra?: true;
  readonly cell: (worker: WorkerView, context: CellContext) => ReactNode;
  readonly order: (a: WorkerView, b: WorkerView) => number;
}

function nameWidth({ isNarrow, hasFlapping, hasLongNames }: Crowd): string {
  if (isNarrow) return 'minmax(110px, 1.6fr)';
  return `minmax(${(hasLongNames ? 170 : 96) + (hasFlapping ? 68 : 0)}px, 0.8fr)`;
}

const byNumber =
  (of: (worker: WorkerView) => number | null | undefined) =>
  (a: WorkerView, b: WorkerView): number =>
    (of(a) ?? -1) - (of(b) ?? -1);
const byText =
  (of: (worker: WorkerView) => string) =>
  (a: WorkerView, b: WorkerView): number =>
    of(a).localeCompare(of(b), 'en', { numeric: true });

export const workerColumns: readonly WorkerColumn[] = [
  {
    id: 'state',
    name: 'State',
    width: ({ hasDrains, isNarrow }) => (hasDrains && !isNarrow ? 'minmax(280px, 1fr)' : 'minmax(116px, 0.9fr)'),
    cell: (worker, { isNarrow }) => <StateCell worker={worker} isBare={isNarrow} />,
    order: (a, b) => bySeverity(statusOf(a), statusOf(b)),
  },
  { id: 'worker', name: 'Worker', width: nameWidth, cell: (worker, { isNarrow }) => <NameCell worker={worker} isTwoLine={isNarrow} />, order: byText(({ id }) => id) },
  {
    id: 'endpoint',
    name: 'Endpoint',
    width: () => 'minmax(122px, 2fr)',
    fromPx: 700,
    cell: ({ endpoint }) => (
      <span className="sy-mono" title={endpoint}>
        {shortEndpoint(endpoint)}
      </span>
    ),
    order: byText(({ endpoint }) => endpoint),
  },
  { id: 'generation', name: 'Gen.', width: ({ hasLongNames }) => (hasLongNames ? '92px' : '50px'), align: 'right', fromPx: 1500, cell: ({ generation }) => generation, order: byNumber(({ generation }) => generation) },
  { id: 'group', name: 'Group', width: () => 'minmax(70px, 0.4fr)', isExtra: true, cell: ({ group }) => <span title={group}>{group}</span>, order: byText(({ group }) => group) },
  {
    id: 'load',
    name: 'Load',
    width: ({ isNarrow }) => (isNarrow ? '72px' : '100px'),
    cell: (worker, { fullLoad }) => <LoadCell worker={worker} fullLoad={fullLoad} />,
    order: byNumber(({ load }) => load),
  },
  { id: 'pressure', name: 'Pressure', width: () => '78px', align: 'right', isExtra: true, cell: ({ pressure }) => pressure, order: byNumber(({ pressure }) => pressure) },
  {
    id: 'engine',
    name: 'Engine run+wait',
    width: () => '142px',
    fromPx: 1100,
    cell: (worker) => <EngineCell worker={worker} />,
    order: byNumber(({ engine }) => engine?.running),
  },
  { id: 'processed', name: 'Processed', width: () => '84px', align: 'right', fromPx: 900, cell: ({ processed }) => count(processed), order: byNumber(({ processed }) => processed) },
  { id: 'failed', name: 'Failed', width: () => '68px', align: 'right', isExtra: true, cell: ({ failed }) => count(failed), order: byNumber(({ failed }) => failed) },
  { id: 'health', name: 'Health', width: () => '102px', fromPx: 900, cell: (worker) => <HealthCell worker={worker} />, order: byText(({ health }) => health) },
  { id: 'circuit', name: 'Circuit', width: () => '78px', fromPx: 1500, cell: (worker) => <CircuitCell worker={worker} />, order: byText(({ circuit }) => circuit) },
  {
    id: 'heartbeat',
    name: 'Heartbeat',
    width: () => '88px',
    fromPx: 600,
    cell: (worker) => <HeartbeatRing worker={worker} />,
    order: byNumber(({ heartbeatAgeMs }) => heartbeatAgeMs),
  },
  {
    id: 'models',
    name: 'Models',
    width: () => 'minmax(100px, 0.7fr)',
    fromPx: 1600,
    cell: ({ models, modelsKnown }) => <span title={models.join('\n')}>{modelsKnown ? models.join(', ') : <span className="sy-dim">not learnt yet</span>}</span>,
    order: byText(({ models }) => models.join()),
  },
  {
    id: 'cache',
    name: 'Cache',
    width: () => '60px',
    align: 'right',
    fromPx: 1180,
    cell: ({ cache }) => <span title={`${bytes(cache.coveredBytes)} of prompts`}>{percent(cache.share)}</span>,
    order: byNumber(({ cache }) => cache.share),
  },
  {
    id: 'latency',
    name: 'Latency',
    width: () => '72px',
    align: 'right',
    fromPx: 1320,
    cell: ({ role, latency }) => {
      const ms = role === 'prefill' ? latency?.prefillMs : latency?.firstByteMs;
      return <span title={role === 'prefill' ? 'prefill, smoothed' : 'first byte, smoothed'}>{duration(ms)}</span>;
    },
    order: byNumber(({ role, latency }) => (role === 'prefill' ? latency?.prefillMs : latency?.firstByteMs)),
  },
  {
    id: 'version',
    name: 'Version',
    width: () => 'minmax(70px, 0.4fr)',
    isExtra: true,
    cell: ({ engine }) => engine?.version ?? <span className="sy-dim">–</span>,
    order: byText(({ engine }) => engine?.version ?? ''),
  },
  {
    id: 'uptime',
    name: 'Uptime',
    width: () => '72px',
    align: 'right',
    fromPx: 1320,
    cell: ({ registeredAt }) => <Ago at={registeredAt} bare coarse />,
    order: (a, b) => Date.parse(b.registeredAt) - Date.parse(a.registeredAt),
  },
];

/** Which columns a page of this width shows when nothing is chosen. */
export function defaultVisibility(pagePx: number): Record<string, boolean> {
  return Object.fromEntries(workerColumns.map(({ id, fromPx = 0, isExtra }) => [id, isExtra !== true && pagePx >= fromPx]));
}
