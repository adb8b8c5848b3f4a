import type { WorkerView } from '@switchyard/core/contracts';
import { type JSX, useState } from 'react';

import { drainCall, undrainCall } from '../../actions/action-calls.js';
import { openDrain, openEvict } from '../../actions/action-store.js';
import { AsCurl } from '../../actions/dialog-parts.js';
import { undrain } from '../../actions/perform.js';
import { useWhyNoAction } from '../../actions/why-no-action.js';
import { ExplainedButton } from '../../parts/explained-button.js';
import styles from './worker-drawer.module.css';

/** Drain, undrain and evict this worker. */
export function WorkerActions({ worker }: { readonly worker: WorkerView }): JSX.Element {
  const why = useWhyNoAction();
  const [busy, setBusy] = useState(false);
  const isReady = worker.adminState === 'ready';
  const back = async (): Promise<void> => {
    setBusy(true);
    await undrain([worker]);
    setBusy(false);
  };
  const call = isReady ? drainCall(worker, { reason: '', deadlineSecs: null, onDeadline: 'flag', until: 'restart' }, false) : undrainCall(worker);
  return (
    <div className={styles['section']}>
      <div className={styles['acts']} role="toolbar" aria-label={`Actions on ${worker.id}`}>
        {isReady ? (
          <ExplainedButton why={why} onClick={() => openDrain([worker.id])}>
            Drain…
          </ExplainedButton>
        ) : (
          <ExplainedButton why={why} loading={busy} onClick={() => void back()}>
            Undrain
          </ExplainedButton>
        )}
        <ExplainedButton variant="outline" color="red" why={why} onClick={() => openEvict(worker.id)}>
          Evict…
        </ExplainedButton>
      </div>
      <div style={{ marginTop: 8 }}>
        <AsCurl calls={[call]} />
      </div>
    </div>
  );
}
