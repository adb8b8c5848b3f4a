import { type JSX } from 'react';

import { useWorkers } from '../../live/use-workers.js';
import { Panel } from '../../parts/panel.js';
import { ToneIcon } from '../../parts/status-badge.js';
import { pairingGroupsOf, type RoleCount } from './pairing-groups.js';
import styles from './pairing-panel.module.css';

/** Which versions can serve with which. */
export function PairingPanel(): JSX.Element | null {
  const groups = pairingGroupsOf(useWorkers());
  if (groups.length === 0) return null;
  return (
    <Panel title="Pairing groups" note="prefill and decode of one group serve together" flush>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col" className={styles['number']}>
              Prefill
            </th>
            <th scope="col" className={styles['number']}>
              Decode
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ name, prefill, decode, versions, models, warning }) => (
            <tr key={name}>
              <td>
                <div className={styles['name']}>{name === '*' ? '* (any)' : name}</div>
                <div className={styles['models']}>
                  {[versions.length === 0 || versions.join() === name ? '' : `vLLM ${versions.join(', ')}`, models.join(', ')].filter(Boolean).join(' · ')}
                </div>
                {warning !== null && (
                  <div className={styles['warning']}>
                    <ToneIcon tone="late" />
                    {warning}
                  </div>
                )}
              </td>
              <td className={styles['number']}>{shown(prefill)}</td>
              <td className={styles['number']}>{shown(decode)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

const shown = ({ selectable, total }: RoleCount): string => (total === 0 ? 'none' : `${selectable} of ${total}`);
