import type { RequestView } from '@switchyard/core/contracts';
import { type JSX } from 'react';
import { Link } from 'wouter';

import { useNow } from '../../live/use-now.js';
import { receiptAddress } from '../../parts/addresses.js';
import { Ago } from '../../parts/ago.js';
import { duration } from '../../parts/format.js';
import { OutcomeMark } from './outcome-mark.js';
import { outcomeOf } from './receipt-words.js';
import styles from './requests.module.css';
import { WorkerWay } from './worker-way.js';

export interface RequestRowProps {
  readonly request: RequestView;
  /** Position in the list, from 0. */
  readonly at: number;
  readonly top: number;
  readonly height: number;
}

export function RequestRow({ request, at, top, height }: RequestRowProps): JSX.Element {
  const { requestId, model, route, stream, status, firstByteMs } = request;
  return (
    <div className={styles['row']} role="row" aria-rowindex={at + 2} data-at={at} style={{ height, transform: `translateY(${top}px)` }}>
      <span role="cell" data-cell="outcome">
        <OutcomeMark outcome={outcomeOf(request)} />
      </span>
      <span role="cell" data-cell="came">
        <Ago at={request.at} coarse />
      </span>
      <span role="cell" data-cell="id">
        <Link className={styles['id'] ?? ''} href={receiptAddress(requestId)} title={`${requestId}\n${route}${stream ? ', streamed' : ''}`}>
          {requestId}
        </Link>
      </span>
      <span role="cell" data-cell="model" title={model ?? undefined}>
        {model ?? <span className="sy-dim">any</span>}
      </span>
      <span role="cell" data-cell="way">
        <WorkerWay request={request} />
      </span>
      <span role="cell" data-cell="first">
        {duration(firstByteMs)}
      </span>
      <span role="cell" data-cell="total">
        <Total request={request} />
      </span>
      <span role="cell" data-cell="status">
        {status ?? '–'}
      </span>
    </div>
  );
}

/** How long it took, or has taken until now. */
function Total({ request: { totalMs, at } }: { readonly request: RequestView }): JSX.Element {
  return totalMs === null ? <Running at={at} /> : <>{duration(totalMs)}</>;
}

function Running({ at }: { readonly at: string }): JSX.Element {
  const ageMs = Math.max(0, useNow() - Date.parse(at));
  return <span className={styles['running']}>{duration(ageMs)} …</span>;
}
