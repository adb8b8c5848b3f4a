import type { WorkerView } from '@switchyard/core/contracts';
import { type JSX } from 'react';

import { Choice } from '../../parts/choice.js';

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
    <Choice
      label="Role"
      options={[{ value: 'all', label: 'All' }, ...offered.map(({ role, n }) => ({ value: role, label: `${role} ${n}` }))]}
      value={value ?? 'all'}
      onChange={(chosen) => onChange(chosen === 'all' ? null : chosen)}
    />
  );
}
