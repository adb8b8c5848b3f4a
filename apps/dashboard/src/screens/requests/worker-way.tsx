import type { RequestView } from '@switchyard/core/contracts';
import { IconArrowRight } from '@tabler/icons-react';
import { type JSX } from 'react';

import styles from './requests.module.css';

/** The workers a request went through: `prefill-1 → decode-4`. */
export function WorkerWay({ request: { prefillId, decodeId, singleId } }: { readonly request: Pick<RequestView, 'prefillId' | 'decodeId' | 'singleId'> }): JSX.Element {
  if (singleId !== null) return <span className="sy-mono">{singleId}</span>;
  if (prefillId === null && decodeId === null) return <span className="sy-dim">no worker yet</span>;
  return (
    <span className={styles['way']}>
      <span className="sy-mono">{prefillId ?? '–'}</span>
      <IconArrowRight size={12} aria-label="then" />
      <span className={decodeId === null ? 'sy-dim' : 'sy-mono'}>{decodeId ?? 'not chosen'}</span>
    </span>
  );
}
