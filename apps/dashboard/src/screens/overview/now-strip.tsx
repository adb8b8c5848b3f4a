import type { OverviewNow, SeriesName } from '@switchyard/core/contracts';
import { type JSX, useCallback, useMemo, useState } from 'react';

import { useHistory } from '../../api/queries.js';
import { useLive } from '../../live/live-store.js';
import { clock, count, rate } from '../../parts/format.js';
import styles from './now-strip.module.css';
import { msShown, percentShown } from './now-numbers.js';
import { TrendChart } from './trend-chart.js';
import { type History, trendOf } from './trend-data.js';

interface Measure {
  readonly name: string;
  readonly series: readonly SeriesName[];
  readonly now: (overview: OverviewNow) => readonly (number | null)[];
  readonly shown: (value: number) => string;
  readonly unit: string;
  readonly leastTop: number;
  readonly isBad?: (value: number) => boolean;
}

const measures: readonly Measure[] = [
  { name: 'Requests', series: ['rps'], now: ({ rps }) => [rps], shown: rate, unit: '/s', leastTop: 1 },
  { name: 'In flight', series: ['inflight'], now: ({ inflight }) => [inflight], shown: count, unit: '', leastTop: 4 },
  { name: 'Queued', series: ['queued'], now: ({ queued }) => [queued], shown: count, unit: '', leastTop: 4 },
  {
    name: 'First token p50 / p95',
    series: ['ttftP50Ms', 'ttftP95Ms'],
    now: ({ ttftMs }) => [ttftMs.p50, ttftMs.p95],
    shown: msShown,
    unit: 'ms',
    leastTop: 20,
  },
  { name: 'Tokens', series: ['tokensPerSecond'], now: ({ tokensPerSecond }) => [tokensPerSecond], shown: rate, unit: '/s', leastTop: 10 },
  {
    name: 'Errors',
    series: ['errorShare'],
    now: ({ errorShare }) => [errorShare],
    shown: percentShown,
    unit: '%',
    leastTop: 0.02,
    isBad: (value) => value > 0.01,
  },
  { name: 'Cache hits', series: ['hitRate'], now: ({ hitRate }) => [hitRate], shown: percentShown, unit: '%', leastTop: 1 },
];

/** The numbers of now, each over its last 15 minutes as the router kept them. */
export function NowStrip(): JSX.Element | null {
  const overview = useLive((state) => state.picture?.overview);
  const isLive = useLive((state) => state.link.phase === 'live');
  const history = useHistory(900, isLive ? 10_000 : 0).data?.series;
  const [point, setPoint] = useState<number | null>(null);
  if (overview === undefined) return null;
  return (
    <section className={styles['strip']} aria-label="Now, and the last 15 minutes">
      {measures.map((measure) => (
        <Tile key={measure.name} measure={measure} overview={overview} history={history} point={point} onPoint={setPoint} />
      ))}
    </section>
  );
}

interface TileProps {
  readonly measure: Measure;
  readonly overview: OverviewNow;
  readonly history: History | undefined;
  readonly point: number | null;
  readonly onPoint: (index: number | null) => void;
}

function Tile({ measure, overview, history, point, onPoint }: TileProps): JSX.Element {
  const data = useMemo(() => trendOf(measure.series, history), [measure.series, history]);
  const tell = useCallback((index: number | null) => onPoint(index), [onPoint]);
  const pointedAt = point === null ? undefined : data.at[point];
  const values = point === null || pointedAt === undefined ? measure.now(overview) : data.values.map((one) => one[point] ?? null);
  const known = values.filter((value) => value !== null);
  const isBad = measure.isBad !== undefined && known.some(measure.isBad);
  return (
    <div className={styles['tile']}>
      <div className={styles['name']}>
        <span>{measure.name}</span>
        {pointedAt !== undefined && <span>{clock(pointedAt * 1000)}</span>}
      </div>
      <p className={styles['value']}>
        <span className={isBad ? styles['bad'] : undefined}>{known.length === 0 ? '–' : values.map((value) => (value === null ? '–' : measure.shown(value))).join(' / ')}</span>
        {known.length > 0 && measure.unit !== '' && <span className={styles['unit']}>{measure.unit}</span>}
      </p>
      <TrendChart data={data} label={`${measure.name} over 15 minutes`} leastTop={measure.leastTop} onPoint={tell} />
    </div>
  );
}
