import 'uplot/dist/uPlot.min.css';

import { useComputedColorScheme } from '@mantine/core';
import type { SeriesPoint } from '@switchyard/core/contracts';
import { type JSX, useEffect, useRef } from 'react';
import UPlot from 'uplot';

import { clock } from '../../parts/format.js';

const heightPx = 120;

export interface HitRateChartProps {
  /** Unix ms and a share 0..1. */
  readonly points: readonly SeriesPoint[];
  /** The point under the pointer, `null` when it left. */
  readonly onPoint: (index: number | null) => void;
}

export function HitRateChart({ points, onPoint }: HitRateChartProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | null>(null);
  const latest = useRef(points);
  const scheme = useComputedColorScheme('light');

  useEffect(() => {
    latest.current = points;
    chart.current?.setData(alignedOf(points));
  }, [points]);

  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const colours = getComputedStyle(document.documentElement);
    const colour = (name: string): string => colours.getPropertyValue(name).trim();
    const ink = colour('--sy-ink');
    const axis = { stroke: colour('--sy-dim'), font: `11px ${colour('--sy-sans')}`, grid: { stroke: colour('--sy-line'), width: 1 }, ticks: { show: false } };
    const made = new UPlot(
      {
        width: Math.max(60, element.clientWidth),
        height: heightPx,
        legend: { show: false },
        padding: [6, 8, 0, 0],
        axes: [
          { ...axis, size: 22, space: 70, values: (_, splits) => splits.map((at) => clock(at * 1000).slice(0, splits.every(isWholeMinute) ? 5 : 8)) },
          { ...axis, size: 44, splits: () => [0, 0.5, 1], values: (_, splits) => splits.map((share) => `${share * 100} %`) },
        ],
        cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
        scales: { y: { range: [0, 1] } },
        series: [{}, { stroke: ink, width: 1.5, fill: `${ink}14`, points: { show: false } }],
        hooks: { setCursor: [(self) => onPoint(self.cursor.idx ?? null)] },
      },
      alignedOf(latest.current),
      element,
    );
    chart.current = made;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height: heightPx });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [scheme, onPoint]);

  return <div ref={host} role="img" aria-label="Hit rate over 15 minutes" style={{ height: heightPx, overflow: 'hidden' }} />;
}

const isWholeMinute = (at: number): boolean => at % 60 === 0;

const alignedOf = (points: readonly SeriesPoint[]): UPlot.AlignedData => [points.map(([at]) => at / 1000), points.map(([, value]) => value)];
