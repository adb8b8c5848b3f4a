import { type JSX } from 'react';

import { useNow } from '../live/use-now.js';
import { absolute, duration } from './format.js';

export interface AgoProps {
  readonly at: string;
  /** Only the span, without "ago". */
  readonly bare?: boolean;
  /** Only its largest unit. */
  readonly coarse?: boolean;
}

/** `4 s ago`, `in 2 min 5 s`; the absolute time on hover. */
export function Ago({ at, bare = false, coarse = false }: AgoProps): JSX.Element {
  const pastMs = useNow() - Date.parse(at);
  return (
    <time dateTime={at} title={absolute(at)}>
      {coarse ? relative(pastMs, bare).split(' ').slice(0, 2).join(' ') : relative(pastMs, bare)}
    </time>
  );
}

function relative(pastMs: number, bare: boolean): string {
  if (Math.abs(pastMs) < 1000) return bare ? '0 s' : 'now';
  const text = duration(Math.floor(Math.abs(pastMs) / 1000) * 1000).replace('.0 s', ' s');
  if (bare) return text;
  return pastMs > 0 ? `${text} ago` : `in ${text}`;
}
