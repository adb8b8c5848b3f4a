import type { WorkerView } from '@switchyard/core/contracts';
import { Button, Modal, Stack } from '@mantine/core';
import { type JSX, useState } from 'react';

import { useLive } from '../live/live-store.js';
import { plural } from '../parts/format.js';
import { closeAction, type OpenAction, useActionStore } from './action-store.js';
import { DrainDialog } from './drain-dialog.js';
import { EvictDialog } from './evict-dialog.js';

/** The dialog of the action that is under way, wherever it was started. */
export function ActionDialogs(): JSX.Element {
  const open = useActionStore((state) => state.open);
  return (
    <Modal opened={open !== null} onClose={closeAction} title={open === null ? '' : titleOf(open)} size={520} closeButtonProps={{ 'aria-label': 'Close' }}>
      {open !== null && <Dialog key={`${open.kind} ${open.ids.join(' ')}`} open={open} />}
    </Modal>
  );
}

function Dialog({ open }: { readonly open: NonNullable<OpenAction> }): JSX.Element {
  // Those seen at the start: a worker that is replaced meanwhile must not be acted on under the same dialog.
  const [targets] = useState(() => {
    const workers = useLive.getState().picture?.workers;
    return open.ids.flatMap((id): WorkerView[] => {
      const worker = workers?.get(id);
      return worker === undefined ? [] : [worker];
    });
  });
  const [first] = targets;
  if (first === undefined) {
    return (
      <Stack gap="sm">
        <span>It is not in its pool any more.</span>
        <Button variant="default" onClick={closeAction}>
          Close
        </Button>
      </Stack>
    );
  }
  return open.kind === 'drain' ? <DrainDialog targets={targets} /> : <EvictDialog target={first} />;
}

function titleOf({ kind, ids }: NonNullable<OpenAction>): string {
  if (kind === 'evict') return `Evict ${ids[0]}`;
  return ids.length === 1 ? `Drain ${ids[0] ?? ''}` : `Drain ${plural(ids.length, 'worker')}`;
}
