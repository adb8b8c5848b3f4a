import type { HandoffView } from '@switchyard/core/contracts';
import { type JSX, useId } from 'react';
import { Link } from 'wouter';

import { useAbout } from '../../api/queries.js';
import { useLive } from '../../live/live-store.js';
import { useSinceArrival } from '../../live/use-now.js';
import { duration, plural } from '../../parts/format.js';
import styles from './handoff-lane.module.css';

const none: readonly HandoffView[] = [];
const mostListed = 5;
const oldShare = 0.5;
const kneeMs = 50;
const defaultMaxMs = 20_000;

/** Requests between their prefill and their first decode byte, on a track from fresh to too old, and stranded KV. */
export function HandoffLane(): JSX.Element {
  const id = useId();
  const handoffs = useLive((state) => state.picture?.handoffs ?? none);
  const sinceMs = useSinceArrival(useLive((state) => state.picture?.handoffsArrivedMs ?? 0));
  const maxMs = useAbout().data?.handoffMaxAgeMs ?? defaultMaxMs;
  const aged = handoffs.map((handoff) => ({ ...handoff, ageMs: Math.min(handoff.maxAgeMs, handoff.ageMs + sinceMs) }));
  const moving = aged.filter(({ stage }) => stage !== 'stranded');
  const stranded = aged.filter(({ stage }) => stage === 'stranded');
  const listed = [...stranded, ...[...moving].sort((a, b) => b.ageMs - a.ageMs)].slice(0, mostListed);
  return (
    <section className={styles['lane']} aria-labelledby={id}>
      <div className={styles['head']}>
        <h3 className={styles['name']} id={id}>
          Hand-offs
        </h3>
        <span className={styles['facts']}>{moving.length === 0 ? 'none now' : `${moving.length} now`}</span>
        {stranded.length > 0 && <span className={styles['stranded']}>{plural(stranded.length, 'stranded', 'stranded')}</span>}
      </div>
      <Track moving={moving} maxMs={maxMs} />
      {listed.length > 0 && (
        <ul className={styles['list']}>
          {listed.map((handoff) => (
            <Row key={`${handoff.requestId} ${handoff.stage}`} handoff={handoff} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** Ages are spread by their logarithm: nearly all hand-offs take far less than their maximum. */
const placeOf = (ageMs: number, maxMs: number): number => Math.log1p(ageMs / kneeMs) / Math.log1p(maxMs / kneeMs);

function Track({ moving, maxMs }: { readonly moving: readonly HandoffView[]; readonly maxMs: number }): JSX.Element {
  const ticks = [100, 1000, 5000, maxMs].filter((tick, at, all) => tick <= maxMs && all.indexOf(tick) === at);
  const x = (share: number): string => `${(share * 100).toFixed(2)}%`;
  return (
    <svg className={styles['track']} role="img" aria-label={`${plural(moving.length, 'hand-off')} between prefill and decode`}>
      <line x1="0" x2="100%" y1="16" y2="16" stroke="var(--sy-strong-line)" strokeWidth="2" />
      <rect x={x(placeOf(maxMs * oldShare, maxMs))} width={x(1 - placeOf(maxMs * oldShare, maxMs))} y="10" height="12" fill="var(--st-late-soft)" />
      {ticks.map((tick) => (
        <g key={tick}>
          <line x1={x(placeOf(tick, maxMs))} x2={x(placeOf(tick, maxMs))} y1="9" y2="23" stroke="var(--sy-strong-line)" />
          <text x={x(placeOf(tick, maxMs))} y="37" textAnchor={tick === maxMs ? 'end' : 'middle'}>
            {duration(tick).replace('.0', '')}
          </text>
        </g>
      ))}
      {moving.map(({ requestId, ageMs, stage }) => (
        <circle
          key={requestId}
          cx={x(placeOf(ageMs, maxMs))}
          cy="16"
          r="4.5"
          fill={ageMs > maxMs * oldShare ? 'var(--st-late-fill)' : stage === 'sent' ? 'var(--st-ready-fill)' : 'var(--sy-panel)'}
          stroke={ageMs > maxMs * oldShare ? 'var(--st-late)' : 'var(--st-ready)'}
          strokeWidth="1.5"
        />
      ))}
    </svg>
  );
}

function Row({ handoff }: { readonly handoff: HandoffView }): JSX.Element {
  const { requestId, prefillId, decodeId, stage, ageMs, maxAgeMs } = handoff;
  const share = Math.min(1, ageMs / maxAgeMs);
  const old = share > oldShare || stage === 'stranded' ? { 'data-old': true } : {};
  const from = stage === 'stranded' ? `KV stranded on ${prefillId}` : `${prefillId} → ${decodeId ?? 'not chosen yet'}`;
  return (
    <li className={styles['item']}>
      <span className={styles['who']}>
        <Link href={`/requests/${encodeURIComponent(requestId)}`} style={{ color: 'inherit' }} title={requestId}>
          {from}
        </Link>
      </span>
      <span className={styles['age']} {...old}>
        {duration(ageMs)} of {duration(maxAgeMs).replace('.0', '')}
      </span>
      <div className={styles['bar']}>
        <div className={styles['fill']} style={{ transform: `scaleX(${share})` }} {...old} />
      </div>
    </li>
  );
}
