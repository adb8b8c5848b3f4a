import type { WorkerView } from '@switchyard/core/contracts';
import { Button } from '@mantine/core';
import { type JSX } from 'react';

import { openDrain } from '../../actions/action-store.js';
import { undrain } from '../../actions/perform.js';
import { useWhyNoAction } from '../../actions/why-no-action.js';
import { ExplainedButton } from '../../parts/explained-button.js';
import { plural } from '../../parts/format.js';
import styles from './worker-table.module.css';

/** What can be done with all selected workers. */
export function BulkBar({ workers, onClear }: { readonly workers: readonly WorkerView[]; readonly onClear: () => void }): JSX.Element {
  const why = useWhyNoAction();
  const ready = workers.filter(({ adminState }) => adminState === 'ready');
  const draining = workers.filter(({ adminState }) => adminState !== 'ready');
  return (
    <div className={styles['bulk']} role="toolbar" aria-label="Selected workers">
      <b>{plural(workers.length, 'worker')} selected</b>
      <ExplainedButton variant="default" why={why ?? (ready.length === 0 ? 'All selected workers are draining or drained already.' : null)} onClick={() => openDrain(ready.map(({ id }) => id))}>
        Drain…
      </ExplainedButton>
      <ExplainedButton variant="default" why={why ?? (draining.length === 0 ? 'None of the selected workers is draining or drained.' : null)} onClick={() => void undrain(draining)}>
        Undrain
      </ExplainedButton>
      <Button variant="subtle" color="gray" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}
