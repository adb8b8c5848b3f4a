import { type JSX } from 'react';

/** Two tracks, one of which branches off. */
export function BrandMark({ size = 22 }: { readonly size?: number }): JSX.Element {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="7" fill="var(--sy-ink)" />
      <g fill="none" strokeWidth="3" strokeLinecap="round">
        <path d="M6 22h20" stroke="var(--sy-panel)" />
        <path d="M8 22c7 0 7-12 16-12" stroke="var(--st-ready-fill)" />
      </g>
    </svg>
  );
}
