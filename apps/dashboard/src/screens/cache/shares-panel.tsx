import type { CacheView } from '@switchyard/core/contracts';
import { type JSX } from 'react';
import { Link } from 'wouter';

import { workerAddress } from '../../parts/addresses.js';
import { bytes, count, percent, plural } from '../../parts/format.js';
import { EmptyState, Panel } from '../../parts/panel.js';
import styles from './cache.module.css';

/** How the index is spread over the workers of its pool. */
export function SharesPanel({ index }: { readonly index: CacheView }): JSX.Element {
  const workers = [...index.workers].sort((a, b) => b.coveredBytes - a.coveredBytes || a.id.localeCompare(b.id, 'en', { numeric: true }));
  return (
    <Panel title="Share per worker" note={plural(workers.length, 'worker')} flush>
      {workers.length === 0 ? (
        <EmptyState title="No worker">The pool is empty; what left workers held is forgotten.</EmptyState>
      ) : (
        <div className={styles['shares']} tabIndex={0} role="group" aria-label="Share per worker">
          <table className={styles['table']}>
            <thead>
              <tr>
                <th scope="col">Worker</th>
                <th scope="col" title="Its part of what all workers hold together">
                  Share
                </th>
                <th scope="col" title={`Of at most ${bytes(index.maxBytes)}`}>
                  Holds
                </th>
                <th scope="col" title="Requests that found a prefix there">
                  Hits
                </th>
              </tr>
            </thead>
            <tbody>
              {workers.map(({ id, share, coveredBytes, hits }) => (
                <tr key={id}>
                  <th scope="row">
                    <Link className={styles['worker'] ?? ''} href={workerAddress(id)}>
                      {id}
                    </Link>
                  </th>
                  <td className={styles['share']}>
                    {percent(share)}
                    <span className={styles['meter']} aria-hidden>
                      <span style={{ width: `${100 * share}%` }} />
                    </span>
                  </td>
                  <td>{bytes(coveredBytes)}</td>
                  <td>{count(hits)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
