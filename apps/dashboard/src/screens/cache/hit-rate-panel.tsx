import type { SeriesPoint } from '@switchyard/core/contracts';
import { type JSX, useMemo, useState } from 'react';

import { useHistory } from '../../api/queries.js';
import { useLive } from '../../live/live-store.js';
import { clock, percent } from '../../parts/format.js';
import { EmptyState, Panel } from '../../parts/panel.js';
import { type History, trendOf } from '../overview/trend-data.js';
import styles from './cache.module.css';
import { HitRateChart } from './hit-rate-chart.js';

const windowSecs = 900;
const everyMs = 10_000;

/** How much of all prompts was found in a cache, over the last 15 minutes as the router kept them. */
export function HitRatePanel(): JSX.Element {
  const isPaused = useLive(({ link }) => link.phase === 'paused');
  const history = useHistory(windowSecs, isPaused ? 0 : everyMs);
  const live = useLive(({ picture }) => picture?.overview.hitRate);
  const series = history.data?.series;
  const points = useMemo(() => pointsOf(series), [series]);
  const [pointed, setPointed] = useState<number | null>(null);
  const measured = useMemo(() => points.some(([, value]) => value !== null), [points]);
  const point = pointed === null ? undefined : points[pointed];
  const shown = point === undefined ? (live ?? history.data?.now.hitRate) : point[1];

  return (
    <Panel title="Hit rate" note="of all prompt bytes, last 15 minutes" side={point !== undefined && <span className="sy-dim">{clock(point[0])}</span>}>
      <p className={styles['now']}>{percent(shown)}</p>
      {measured ? (
        <HitRateChart points={points} onPoint={setPointed} />
      ) : (
        history.data !== undefined && <EmptyState title="No history yet">The line begins with the first prompt that is placed by its prefix.</EmptyState>
      )}
    </Panel>
  );
}

/** In steps of some seconds, so that one without a prompt leaves no hole. */
function pointsOf(series: History | undefined): readonly SeriesPoint[] {
  const { at, values } = trendOf(['hitRate'], series);
  return at.map((secs, index) => [secs * 1000, values[0]?.[index] ?? null]);
}
