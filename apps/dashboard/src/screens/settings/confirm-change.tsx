import { Button, Group, Modal } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { IconArrowRight } from '@tabler/icons-react';
import { type JSX } from 'react';

import { call } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import { CurlLine } from '../../parts/command-line.js';
import { plural } from '../../parts/format.js';
import { Refusal } from '../../parts/refusal.js';
import { tell } from '../../parts/toasts.js';
import { configPath } from './config-path.js';
import { changeBody, liveRules, type SettingChange } from './live-change.js';
import styles from './settings.module.css';

export interface ConfirmChangeProps {
  readonly opened: boolean;
  readonly changes: readonly SettingChange[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Old and new of each change, before it is made. */
export function ConfirmChange({ opened, changes, onClose, onDone }: ConfirmChangeProps): JSX.Element {
  const body = changeBody(changes);
  const change = useMutation({
    mutationFn: () => call(configPath, { method: 'PATCH', body }),
    onSuccess: () => {
      refresh(configPath, '/api/v1/events', '/api/v1/cache');
      tell({ tone: 'ready', message: `${plural(changes.length, 'setting')} changed.` });
      onDone();
    },
  });
  const close = (): void => {
    change.reset();
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title={`Change ${plural(changes.length, 'setting')}?`} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <table className={styles['changes']}>
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Now</th>
            <td />
            <th scope="col">Then</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ name, from, to }) => (
            <tr key={name}>
              <th scope="row">
                {liveRules[name].label} <span className={styles['flag']}>{name}</span>
              </th>
              <td className="sy-mono">{from}</td>
              <td>
                <IconArrowRight size={14} aria-label="becomes" />
              </td>
              <td className={styles['then']}>{to}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="sy-dim">It counts from the next placement; requests in flight keep their workers. {policyNote(changes)}The change is written to the events.</p>
      <CurlLine method="PATCH" path={configPath} body={body} />
      {change.error !== null && <Refusal error={change.error} />}
      <Group justify="flex-end" mt="md" gap="xs">
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button loading={change.isPending} disabled={changes.length === 0} onClick={() => change.mutate()} data-autofocus>
          Change
        </Button>
      </Group>
    </Modal>
  );
}

/** What a change of policy loses. */
function policyNote(changes: readonly SettingChange[]): string {
  return changes.some(({ from, to }) => from === 'cache_aware' && to !== 'cache_aware') ? 'A role that leaves cache_aware forgets its prefix index. ' : '';
}
