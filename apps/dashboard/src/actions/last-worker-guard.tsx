import type { WorkerView } from '@switchyard/core/contracts';
import { Button, Stack } from '@mantine/core';
import { type JSX } from 'react';

import { type AdminError } from '../api/client.js';
import { plural } from '../parts/format.js';
import { type ActionCall } from './action-calls.js';
import { closeAction } from './action-store.js';
import { AsCurl, ConsequenceList } from './dialog-parts.js';
import styles from './dialog.module.css';

export interface LastWorkerGuardProps {
  readonly refusals: readonly { readonly worker: WorkerView; readonly error: AdminError }[];
  /** Others of the same wish that were done. */
  readonly drained: number;
  readonly verb: 'Drain' | 'Evict';
  readonly busy: boolean;
  readonly calls: readonly ActionCall[];
  readonly onOverride: () => void;
}

/** The router refused because something would stop working: says what, and offers to do it all the same. */
export function LastWorkerGuard({ refusals, drained, verb, busy, calls, onOverride }: LastWorkerGuardProps): JSX.Element {
  return (
    <Stack gap="sm">
      <b>
        {refusals.length === 1 ? `Without ${refusals[0]?.worker.id ?? 'it'} this would stop working:` : 'Without these workers this would stop working:'}
      </b>
      <ConsequenceList consequences={refusals.map(({ worker, error }) => ({ text: stopsOf(worker, error), isGrave: true }))} />
      <span>Instead, start another {rolesOf(refusals)} worker first.</span>
      {drained > 0 && <span>{plural(drained, 'other worker is', 'other workers are')} draining as asked.</span>}
      <AsCurl calls={calls} />
      <div className={styles['foot']}>
        <Button variant="default" autoFocus onClick={closeAction}>
          Keep {refusals.length === 1 ? 'it' : 'them'} in service
        </Button>
        <Button color="red" loading={busy} onClick={onOverride}>
          {verb} anyway
        </Button>
      </div>
    </Stack>
  );
}

function rolesOf(refusals: LastWorkerGuardProps['refusals']): string {
  return [...new Set(refusals.map(({ worker }) => worker.role))].join(' and another ');
}

function stopsOf(worker: WorkerView, { details }: AdminError): string {
  const model = typeof details['model'] === 'string' ? `requests for ${details['model']}` : 'all requests';
  const role = typeof details['role'] === 'string' ? details['role'] : worker.role;
  const group = typeof details['group'] === 'string' ? details['group'] : worker.group;
  return `${worker.id}: ${model} would get 503; it is the last selectable ${role} worker of group ${group}.`;
}
