import type { WorkerView } from '@switchyard/core/contracts';
import { Button, NativeSelect, Radio, Stack, TextInput } from '@mantine/core';
import { type JSX, type SubmitEvent, useState } from 'react';

import { type AdminError } from '../api/client.js';
import { plural } from '../parts/format.js';
import { Refusal } from '../parts/refusal.js';
import { drainCall, type DrainChoice } from './action-calls.js';
import { closeAction } from './action-store.js';
import { AsCurl, ConsequenceList } from './dialog-parts.js';
import styles from './dialog.module.css';
import { LastWorkerGuard } from './last-worker-guard.js';
import { perform } from './perform.js';
import { useConsequences } from './use-consequences.js';

const deadlines = [
  { value: '', label: 'No deadline' },
  { value: '60', label: '1 minute' },
  { value: '300', label: '5 minutes' },
  { value: '900', label: '15 minutes' },
  { value: '1800', label: '30 minutes' },
  { value: '3600', label: '1 hour' },
] as const;

interface Refused {
  readonly worker: WorkerView;
  readonly error: AdminError;
}

/** Takes one or several workers out of service gently; states the consequence first. */
export function DrainDialog({ targets }: { readonly targets: readonly WorkerView[] }): JSX.Element {
  const [choice, setChoice] = useState<DrainChoice>({ reason: '', deadlineSecs: null, onDeadline: 'flag', until: 'restart' });
  const [refused, setRefused] = useState<readonly Refused[]>([]);
  const [pending, setPending] = useState<readonly WorkerView[]>(targets);
  const [busy, setBusy] = useState(false);
  const consequences = useConsequences('drain', pending);

  const drain = async (workers: readonly WorkerView[], force: boolean): Promise<void> => {
    setBusy(true);
    const refusals: Refused[] = [];
    for (const worker of workers) {
      const done = await perform(drainCall(worker, choice, force));
      if (!done.ok) refusals.push({ worker, error: done.error });
    }
    setBusy(false);
    setRefused(refusals);
    setPending(refusals.map(({ worker }) => worker));
    if (refusals.length === 0) closeAction();
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void drain(pending, false);
  };

  const guarded = refused.filter(({ error }) => error.code === 'last_selectable_worker');
  if (guarded.length > 0) {
    return (
      <LastWorkerGuard
        refusals={guarded}
        drained={targets.length - refused.length}
        verb="Drain"
        busy={busy}
        calls={guarded.map(({ worker }) => drainCall(worker, choice, true))}
        onOverride={() => void drain(guarded.map(({ worker }) => worker), true)}
      />
    );
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <ConsequenceList consequences={consequences} />
        <TextInput
          data-autofocus
          label="Reason"
          description="Optional; others see it beside the worker and in the events."
          maxLength={500}
          value={choice.reason}
          onChange={({ currentTarget: { value } }) => setChoice({ ...choice, reason: value })}
        />
        <Radio.Group label="The drain ends" value={choice.until} onChange={(until) => setChoice({ ...choice, until: until === 'undrain' ? 'undrain' : 'restart' })}>
          <Stack gap={6} mt={4}>
            <Radio size="xs" value="restart" label="when a new engine process takes its place, or by Undrain" />
            <Radio size="xs" value="undrain" label="only by Undrain: it stays out across restarts" />
          </Stack>
        </Radio.Group>
        <NativeSelect
          label="Deadline"
          data={deadlines}
          value={choice.deadlineSecs === null ? '' : String(choice.deadlineSecs)}
          onChange={({ currentTarget: { value } }) => setChoice({ ...choice, deadlineSecs: value === '' ? null : Number(value) })}
        />
        {choice.deadlineSecs !== null && (
          <Radio.Group label="When it passes" value={choice.onDeadline} onChange={(on) => setChoice({ ...choice, onDeadline: on === 'abort' ? 'abort' : 'flag' })}>
            <Stack gap={6} mt={4}>
              <Radio size="xs" value="flag" label="mark the drain as overdue and go on waiting" />
              <Radio size="xs" value="abort" label="abort the requests that are still on it" />
            </Stack>
          </Radio.Group>
        )}
        {refused.map(({ worker, error }) => (
          <Refusal key={worker.id} error={error} />
        ))}
        <AsCurl calls={pending.map((worker) => drainCall(worker, choice, false))} />
        <div className={styles['foot']}>
          <Button variant="default" onClick={closeAction}>
            Cancel
          </Button>
          <Button type="submit" loading={busy}>
            {pending.length === 1 ? `Drain ${pending[0]?.id ?? ''}` : `Drain ${plural(pending.length, 'worker')}`}
          </Button>
        </div>
      </Stack>
    </form>
  );
}
