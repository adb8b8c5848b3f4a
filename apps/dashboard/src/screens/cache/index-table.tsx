import type { CacheView } from '@switchyard/core/contracts';
import { type JSX } from 'react';

import { bytes, count, percent } from '../../parts/format.js';
import styles from './cache.module.css';
import { roleNames } from './role-names.js';

export interface IndexTableProps {
  readonly indexes: readonly CacheView[];
  readonly chosen: CacheView;
  readonly onChoose: (index: CacheView) => void;
}

/** All indexes; the chosen one is shown in full below. */
export function IndexTable({ indexes, chosen, onChoose }: IndexTableProps): JSX.Element {
  return (
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label="Prefix indexes">
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">Role and model</th>
            <th scope="col" title="Prompt bytes that some worker is believed to hold, counted once">
              Covered
            </th>
            <th scope="col" title="The worker that holds most, against the limit of each worker">
              Fullest worker
            </th>
            <th scope="col" title="Matched part of the prompt bytes of the last 15 minutes">
              Hit rate
            </th>
            <th scope="col" title="Requests whose worker held at least one block of their prompt">
              Hits
            </th>
            <th scope="col">Misses</th>
            <th scope="col">Evictions</th>
            <th scope="col" title="Memory of the index itself">
              Memory
            </th>
          </tr>
        </thead>
        <tbody>
          {indexes.map((index) => (
            <tr key={`${index.role} ${index.model}`} data-chosen={index === chosen || undefined}>
              <th scope="row">
                <button type="button" className={styles['choose']} aria-pressed={index === chosen} onClick={() => onChoose(index)}>
                  <span className={styles['role']}>{roleNames[index.role]}</span>
                  <span className={styles['model']} title={index.model}>{index.model === '' ? 'requests that name no model' : index.model}</span>
                </button>
              </th>
              <td>{bytes(index.coveredBytes)}</td>
              <td>
                <Fullest index={index} />
              </td>
              <td>{percent(index.hitRate)}</td>
              <td>{count(index.hits)}</td>
              <td>{count(index.misses)}</td>
              <td data-some={index.evictions > 0 || undefined}>{count(index.evictions)}</td>
              <td>{bytes(index.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Fullest({ index: { workers, maxBytes } }: { readonly index: CacheView }): JSX.Element {
  const most = Math.max(0, ...workers.map(({ coveredBytes }) => coveredBytes));
  return (
    <>
      {bytes(most)} <span className="sy-dim">of {bytes(maxBytes)}</span>
      <span className={styles['meter']} aria-hidden>
        <span style={{ width: `${Math.min(100, (100 * most) / maxBytes)}%` }} />
      </span>
    </>
  );
}
