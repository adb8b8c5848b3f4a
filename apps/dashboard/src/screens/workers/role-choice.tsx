import type { WorkerView } from '@switchyard/core/contracts';
import { type JSX } from 'react';

import styles from './worker-table.module.css';

export interface RoleChoiceProps {
  readonly workers: readonly WorkerView[];
  readonly value: WorkerView['role'] | null;
  readonly onChange: (role: WorkerView['role'] | null) => void;
}

/** One role's workers or all; roles without a worker are not offered. */
export function RoleChoice({ workers, value, onChange }: RoleChoiceProps): JSX.Element | null {
  const counts = (['prefill', 'decode', 'regular'] as const).map((role) => ({ role, n: workers.filter((worker) => worker.role === role).length }));
  const offered = counts.filter(({ role, n }) => n > 0 || role === value);
  if (offered.length < 2 && value === null) return null;
  return (
    <div className={styles['roles']} role="group" aria-label="Role">
      <button type="button" aria-pressed={value === null} onClick={() => onChange(null)}>
        All
      </button>
      {offered.map(({ role, n }) => (
        <button key={role} type="button" aria-pressed={value === role} onClick={() => onChange(role)}>
          {role} {n}
        </button>
      ))}
    </div>
  );
}
