import type { WorkerView } from '@switchyard/core/contracts';
import { Button, NativeSelect, Radio, Stack, TextInput } from '@mantine/core';
import { type JSX, type SubmitEvent, useState } from 'react';

import { type AdminError } from '../api/client.js';
import { plural } from '../parts/format.js';
import { Refusal } from '../parts/refusal.js';
import { evictCall, type EvictChoice } from './action-calls.js';
import { closeAction } from './action-store.js';
import { AsCurl, ConsequenceList } from './dialog-parts.js';
import styles from './dialog.module.css';
import { LastWorkerGuard } from './last-worker-guard.js';
import { perform } from './perform.js';
import { useConsequences } from './use-consequences.js';

const quarantines = [
  { value: '300', label: '5 minutes' },
  { value: '1800', label: '30 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '-1', label: 'Until readmitted' },
  { value: '0', label: 'None: it may come back at once' },
] as const;

/** Throws a worker out; its name must be typed. */
export function EvictDialog({ target }: { readonly target: WorkerView }): JSX.Element {
  const [name, setName] = useState('');
  const [choice, setChoice] = useState<EvictChoice>({ reason: '', quarantineSecs: 300, abortInflight: false });
  const [error, setError] = useState<AdminError | null>(null);
  const [busy, setBusy] = useState(false);
  const [, ...poolConsequences] = useConsequences('evict', [target]);

  const evict = async (force: boolean): Promise<void> => {
    setBusy(true);
    const done = await perform(evictCall(target, choice, force));
    setBusy(false);
    if (done.ok) closeAction();
    else setError(done.error);
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void evict(false);
  };

  if (error?.code === 'last_selectable_worker') {
    return (
      <LastWorkerGuard
        refusals={[{ worker: target, error }]}
        drained={0}
        verb="Evict"
        busy={busy}
        calls={[evictCall(target, choice, true)]}
        onOverride={() => void evict(true)}
      />
    );
  }
  const lacks = name !== target.id ? `Type ${target.id} to confirm.` : choice.reason.trim() === '' ? 'A reason is needed.' : null;
  const requests = plural(target.load, 'request');
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <ConsequenceList
          consequences={[
            { text: `${target.id} leaves its pool at once, with what is known of its cache.`, isGrave: false },
            {
              text: choice.abortInflight ? `${requests} in flight will be aborted.` : `${requests} in flight may finish.`,
              isGrave: choice.abortInflight && target.load > 0,
            },
            ...poolConsequences,
          ]}
        />
        <TextInput
          data-autofocus
          label="Worker"
          description={`Type ${target.id} to confirm.`}
          autoComplete="off"
          spellCheck={false}
          value={name}
          onChange={({ currentTarget: { value } }) => setName(value.trim())}
        />
        <TextInput
          label="Reason"
          maxLength={500}
          value={choice.reason}
          onChange={({ currentTarget: { value } }) => setChoice({ ...choice, reason: value })}
        />
        <Radio.Group
          label="Requests on it"
          value={choice.abortInflight ? 'abort' : 'finish'}
          onChange={(how) => setChoice({ ...choice, abortInflight: how === 'abort' })}
        >
          <Stack gap={6} mt={4}>
            <Radio size="xs" value="finish" label="let them finish" />
            <Radio size="xs" value="abort" label="abort them: clients see an error" />
          </Stack>
        </Radio.Group>
        <NativeSelect
          label="Quarantine"
          description="For so long the router takes no registration of this endpoint."
          data={quarantines}
          value={String(choice.quarantineSecs)}
          onChange={({ currentTarget: { value } }) => setChoice({ ...choice, quarantineSecs: Number(value) })}
        />
        {error !== null && <Refusal error={error} />}
        <AsCurl calls={[evictCall(target, choice, false)]} />
        <div className={styles['foot']}>
          {lacks !== null && (
            <span className="sy-dim" style={{ marginRight: 'auto', alignSelf: 'center' }} id="evict-lacks">
              {lacks}
            </span>
          )}
          <Button variant="default" onClick={closeAction}>
            Cancel
          </Button>
          <Button type="submit" color="red" loading={busy} disabled={lacks !== null} {...(lacks === null ? {} : { 'aria-describedby': 'evict-lacks' })}>
            Evict {target.id}
          </Button>
        </div>
      </Stack>
    </form>
  );
}
