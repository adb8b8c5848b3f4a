import 'uplot/dist/uPlot.min.css';

import { useComputedColorScheme } from '@mantine/core';
import { type JSX, useEffect, useRef } from 'react';
import UPlot from 'uplot';

export interface TrendData {
  /** Unix seconds, ascending. */
  readonly at: readonly number[];
  readonly values: readonly (readonly (number | null)[])[];
}

export interface TrendChartProps {
  readonly data: TrendData;
  readonly label: string;
  /** Largest value the scale always shows, so that a calm line does not look like a storm. */
  readonly leastTop: number;
  /** The point under the pointer, `null` when it left. */
  readonly onPoint: (index: number | null) => void;
}

const heightPx = 46;
const lines = ['--sy-ink', '--st-drained-fill'] as const;

/** A small chart of the last minutes; charts beside each other share their pointer. */
export function TrendChart({ data, label, leastTop, onPoint }: TrendChartProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | null>(null);
  const tell = useRef(onPoint);
  const latest = useRef(data);
  const scheme = useComputedColorScheme('light');
  const seriesCount = data.values.length;

  useEffect(() => {
    tell.current = onPoint;
    latest.current = data;
    chart.current?.setData(alignedOf(data));
  }, [data, onPoint]);

  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const colours = getComputedStyle(document.documentElement);
    const made = new UPlot(
      {
        width: Math.max(60, element.clientWidth),
        height: heightPx,
        pxAlign: false,
        legend: { show: false },
        padding: [3, 0, 1, 0],
        axes: [{ show: false }, { show: false }],
        cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false }, sync: { key: 'overview', setSeries: false } },
        scales: { y: { range: (_, __, max) => [0, Math.max(leastTop, Number.isFinite(max) ? max * 1.08 : leastTop)] } },
        series: [
          {},
          ...Array.from({ length: seriesCount }, (_, at) => {
            const colour = colours.getPropertyValue(lines[at] ?? lines[0]).trim();
            return { stroke: colour, width: at === 0 ? 1.4 : 1.1, points: { show: false }, spanGaps: true, ...(at === 0 && seriesCount === 1 ? { fill: `${colour}14` } : {}) };
          }),
        ],
        hooks: { setCursor: [(self) => tell.current(self.cursor.idx ?? null)] },
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
  }, [scheme, seriesCount, leastTop]);

  return <div ref={host} role="img" aria-label={label} style={{ height: heightPx, overflow: 'hidden' }} />;
}

const alignedOf = ({ at, values }: TrendData): UPlot.AlignedData => [[...at], ...values.map((one) => [...one])];
