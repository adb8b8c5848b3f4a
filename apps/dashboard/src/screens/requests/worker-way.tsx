import type { RequestView } from '@switchyard/core/contracts';
import { IconArrowRight } from '@tabler/icons-react';
import { type JSX } from 'react';
import { Link } from 'wouter';

import { workerAddress } from '../../parts/addresses.js';
import styles from './requests.module.css';

export interface WorkerWayProps {
  readonly request: Pick<RequestView, 'prefillId' | 'decodeId' | 'singleId'>;
  /** Each leads to its drawer. */
  readonly linked?: boolean;
}

/** The workers a request went through: `prefill-1 → decode-4`. */
export function WorkerWay({ request: { prefillId, decodeId, singleId }, linked = false }: WorkerWayProps): JSX.Element {
  if (singleId !== null) return <Worker id={singleId} linked={linked} />;
  if (prefillId === null && decodeId === null) return <span className="sy-dim">no worker yet</span>;
  return (
    <span className={styles['way']}>
      {prefillId === null ? '–' : <Worker id={prefillId} linked={linked} />}
      <IconArrowRight size={12} aria-label="then" />
      {decodeId === null ? <span className="sy-dim">not chosen</span> : <Worker id={decodeId} linked={linked} />}
    </span>
  );
}

function Worker({ id, linked }: { readonly id: string; readonly linked: boolean }): JSX.Element {
  return linked ? (
    <Link className={styles['worker'] ?? ''} href={workerAddress(id)}>
      {id}
    </Link>
  ) : (
    <span className="sy-mono">{id}</span>
  );
}
