import type { DepartedWorkerView, DrainIntentView, QuarantineView } from '@switchyard/core/contracts';
import { ActionIcon, Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconTerminal2 } from '@tabler/icons-react';
import { type JSX, type ReactNode, useEffect, useState } from 'react';

import { type ListAnswer, refresh, useAdmin, useMayAct } from '../api/queries.js';
import { useLive } from '../live/live-store.js';
import { Ago } from '../parts/ago.js';
import { curlOf } from '../parts/command-line.js';
import { plural, shortEndpoint } from '../parts/format.js';
import { Panel } from '../parts/panel.js';
import { StatusBadge } from '../parts/status-badge.js';
import { statusOf } from '../parts/worker-status.js';
import { type ActionCall, readmitCall } from './action-calls.js';
import styles from './out-of-pool.module.css';
import { perform, tellRefusal } from './perform.js';

const none: readonly never[] = [];
const relevant: ReadonlySet<string> = new Set(['evict', 'readmit', 'drain', 'undrain', 'registered', 'replaced', 'expired', 'departed', 'removed']);

/** What is not in the pools but not over either: quarantined endpoints, workers that left with work, drains that wait. */
export function OutOfPool(): JSX.Element | null {
  const quarantine = useAdmin<ListAnswer<QuarantineView>>('/api/v1/quarantine', { everyMs: 5000 }).data?.items ?? none;
  const departed = useAdmin<ListAnswer<DepartedWorkerView>>('/api/v1/departed', { everyMs: 5000 }).data?.items ?? none;
  const intents = useAdmin<ListAnswer<DrainIntentView>>('/api/v1/drains', { everyMs: 5000 }).data?.items ?? none;
  const waiting = intents.filter(({ workerId }) => workerId === null);
  const lastEvent = useLive((state) => state.events.find(({ type }) => relevant.has(type))?.eventSeq);
  useEffect(() => {
    if (lastEvent !== undefined) refresh('/api/v1/quarantine', '/api/v1/departed', '/api/v1/drains');
  }, [lastEvent]);

  return (
    <>
      {quarantine.length > 0 && (
        <Panel title="Quarantined" note="evicted; the router takes no registration of these endpoints" flush>
          <ul className={styles['list']}>
            {quarantine.map((entry) => (
              <Quarantined key={`${entry.role} ${entry.endpoint}`} entry={entry} />
            ))}
          </ul>
        </Panel>
      )}
      {departed.length > 0 && (
        <Panel title="Gone, with work left" note="left their pool; these requests still run" flush>
          <ul className={styles['list']}>
            {departed.map((worker) => (
              <li key={worker.id} className={styles['item']}>
                <StatusBadge status={statusOf(worker)} />
                <span className={styles['who']}>{worker.id}</span>
                <span className="sy-mono">{shortEndpoint(worker.endpoint)}</span>
                <span className={styles['why']}>
                  {worker.leftReason} <Ago at={worker.leftAt} />, {plural(worker.load, 'request')} left
                </span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {waiting.length > 0 && (
        <Panel title="Drained, nobody there" note="whoever registers there starts drained" flush>
          <ul className={styles['list']}>
            {waiting.map((intent) => (
              <WaitingDrain key={`${intent.role} ${intent.endpoint}`} intent={intent} />
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

function Quarantined({ entry: { role, endpoint, until, by, reason, since } }: { readonly entry: QuarantineView }): JSX.Element {
  return (
    <li className={styles['item']}>
      <StatusBadge status={{ tone: 'evicted', word: 'Evicted', meaning: 'Quarantined by an operator.' }} />
      <span className={styles['who']}>
        {role} <span className="sy-mono">{shortEndpoint(endpoint)}</span>
      </span>
      <span>{until === null ? 'until readmitted' : <TimeLeft until={until} />}</span>
      <span className={styles['why']}>
        “{reason}” by {by}, <Ago at={since} />
      </span>
      <OneClick call={readmitCall(role, endpoint)} what={`${role} ${shortEndpoint(endpoint)}`}>
        Readmit
      </OneClick>
    </li>
  );
}

function TimeLeft({ until }: { readonly until: string }): JSX.Element {
  return (
    <>
      <Ago at={until} bare /> left
    </>
  );
}

function WaitingDrain({ intent: { role, endpoint, by, reason, since } }: { readonly intent: DrainIntentView }): JSX.Element {
  return (
    <li className={styles['item']}>
      <span className={styles['who']}>
        {role} <span className="sy-mono">{shortEndpoint(endpoint)}</span>
      </span>
      <span className={styles['why']}>
        {reason === null ? '' : `“${reason}” `}by {by}, <Ago at={since} />
      </span>
      <OneClick call={{ method: 'POST', path: '/api/v1/endpoints/undrain', body: { endpoint, role } }} what={`${role} ${shortEndpoint(endpoint)}`}>
        Undrain
      </OneClick>
    </li>
  );
}

/** An action without a question, with its curl; absent for viewers. */
export function OneClick({ call, what, children }: { readonly call: ActionCall; readonly what: string; readonly children: ReactNode }): JSX.Element | null {
  const mayAct = useMayAct();
  const [busy, setBusy] = useState(false);
  const clipboard = useClipboard({ timeout: 1500 });
  if (!mayAct) return null;
  const act = async (): Promise<void> => {
    setBusy(true);
    const done = await perform(call);
    setBusy(false);
    if (!done.ok) tellRefusal(`${what}: refused`, done.error);
  };
  const label = clipboard.copied ? 'Copied' : 'Copy as curl';
  return (
    <span className={styles['act']}>
      <ActionIcon aria-label={`${label}: ${what}`} title={label} onClick={() => clipboard.copy(curlOf(call.method, call.path, call.body))}>
        {clipboard.copied ? <IconCheck size={15} /> : <IconTerminal2 size={15} />}
      </ActionIcon>
      <Button variant="default" size="compact-sm" loading={busy} onClick={() => void act()}>
        {children}
      </Button>
    </span>
  );
}
