import { Button, Drawer, Skeleton } from '@mantine/core';
import { type JSX } from 'react';

import { AdminError } from '../../api/client.js';
import { useMayAct, useWorkerDetail } from '../../api/queries.js';
import { useLive } from '../../live/live-store.js';
import { drainWords } from '../../parts/drain-words.js';
import { shortEndpoint } from '../../parts/format.js';
import { EmptyState } from '../../parts/panel.js';
import { Refusal } from '../../parts/refusal.js';
import { StatusBadge } from '../../parts/status-badge.js';
import { statusOf } from '../../parts/worker-status.js';
import { InflightSection, LoadSection } from './worker-load.js';
import { LifetimesSection, WorkerEvents } from './worker-past.js';
import { WorkerActions } from './worker-actions.js';
import styles from './worker-drawer.module.css';
import { FactsSection, StatesSection } from './worker-facts.js';

export interface WorkerDrawerProps {
  /** `null` = closed. */
  readonly id: string | null;
  readonly onOpen: (id: string) => void;
  readonly onClose: () => void;
}

/** Everything about one worker: why it has its load, what it went through, and what can be done. */
export function WorkerDrawer({ id, onOpen, onClose }: WorkerDrawerProps): JSX.Element {
  return (
    <Drawer
      opened={id !== null}
      onClose={onClose}
      position="right"
      size={600}
      title={id ?? ''}
      returnFocus={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
      overlayProps={{ backgroundOpacity: 0.25 }}
      transitionProps={{ duration: 120 }}
    >
      {id !== null && <WorkerView key={id} id={id} onOpen={onOpen} onClose={onClose} />}
    </Drawer>
  );
}

function WorkerView({ id, onOpen, onClose }: { readonly id: string; readonly onOpen: (id: string) => void; readonly onClose: () => void }): JSX.Element {
  const detail = useWorkerDetail(id);
  const live = useLive((state) => state.picture?.workers.get(id));
  const mayAct = useMayAct();
  if (detail.data === undefined || (live === undefined && detail.error !== null)) {
    if (detail.error !== null) return <Departed id={id} error={detail.error} onOpen={onOpen} onClose={onClose} />;
    return <Skeleton height={300} aria-label="Waiting for the router" />;
  }
  // The stream is fresher than the last answer; lists come with the answer.
  const worker = { ...detail.data, ...live };
  const oldestMs = worker.inflight.length === 0 ? null : Math.max(...worker.inflight.map(({ ageMs }) => ageMs));
  const words = drainWords(worker, oldestMs);
  return (
    <div className={styles['content']}>
      <div className={styles['lead']}>
        <StatusBadge status={statusOf(worker)} />
        {words !== null && <b>{words}</b>}
        <span className="sy-mono">{shortEndpoint(worker.endpoint)}</span>
      </div>
      {mayAct && worker.leftAt === undefined && <WorkerActions worker={worker} />}
      <StatesSection worker={worker} />
      <LoadSection worker={worker} />
      <InflightSection worker={worker} />
      <LifetimesSection worker={worker} />
      <WorkerEvents worker={worker} />
      <FactsSection worker={worker} />
    </div>
  );
}

function Departed({ id, error, onOpen, onClose }: { readonly id: string; readonly error: unknown; readonly onOpen: (id: string) => void; readonly onClose: () => void }): JSX.Element {
  const successor = error instanceof AdminError ? error.details['successorId'] : undefined;
  if (typeof successor === 'string') {
    return (
      <EmptyState title={`${id} has left its pool`}>
        Its endpoint is {successor} now.
        <div>
          <Button mt="xs" autoFocus onClick={() => onOpen(successor)}>
            Open {successor}
          </Button>
        </div>
      </EmptyState>
    );
  }
  if (error instanceof AdminError && (error.status === 404 || error.status === 409)) {
    return (
      <EmptyState title={`${id} has left its pool`}>
        No engine is registered at its endpoint now.
        <div>
          <Button mt="xs" variant="default" autoFocus onClick={onClose}>
            Back to the workers
          </Button>
        </div>
      </EmptyState>
    );
  }
  return <Refusal error={error} />;
}
