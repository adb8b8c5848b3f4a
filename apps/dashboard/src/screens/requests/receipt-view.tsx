import { Skeleton } from '@mantine/core';
import type { ReceiptView as Receipt } from '@switchyard/core/contracts';
import { IconArrowLeft } from '@tabler/icons-react';
import { type JSX } from 'react';
import { Link } from 'wouter';

import { useAdmin } from '../../api/queries.js';
import { useQuickNow } from '../../live/use-now.js';
import { Ago } from '../../parts/ago.js';
import { CurlLine } from '../../parts/command-line.js';
import { duration } from '../../parts/format.js';
import { EmptyState, Panel } from '../../parts/panel.js';
import { Refusal } from '../../parts/refusal.js';
import { Screen } from '../../parts/screen.js';
import { AttemptCard } from './attempt-card.js';
import { OutcomeMark } from './outcome-mark.js';
import styles from './receipt.module.css';
import { outcomeOf } from './receipt-words.js';
import { TokenFacts } from './token-facts.js';
import { Waterfall } from './waterfall.js';
import { waterfallSteps } from './waterfall-steps.js';
import { WorkerWay } from './worker-way.js';

/** The explanation of one request: where its time went, and why it ran where it ran. */
export function ReceiptView({ requestId }: { readonly requestId: string }): JSX.Element {
  const path = `/api/v1/requests/${encodeURIComponent(requestId)}`;
  const first = useAdmin<Receipt>(path);
  const running = first.data?.state === 'inflight';
  const { data: receipt, error, refetch } = useAdmin<Receipt>(path, running ? { everyMs: 500 } : {});
  return (
    <Screen
      title={<span className={styles['id']}>{requestId}</span>}
      about={
        <Link className={styles['back'] ?? ''} href="/requests">
          <IconArrowLeft size={14} aria-hidden /> All requests
        </Link>
      }
      side={receipt !== undefined && <OutcomeMark outcome={outcomeOf(receipt)} />}
    >
      {error !== null && (error.code === 'unknown_request' ? <Forgotten /> : <Refusal error={error} onRetry={() => void refetch()} />)}
      {receipt === undefined ? error === null && <Waiting /> : <Parts receipt={receipt} path={path} />}
    </Screen>
  );
}

function Parts({ receipt, path }: { readonly receipt: Receipt; readonly path: string }): JSX.Element {
  return (
    <>
      <Facts receipt={receipt} />
      <Panel title="Where the time went" note={receipt.state === 'inflight' ? 'still running' : undefined}>
        {receipt.state === 'inflight' ? <RunningWaterfall receipt={receipt} /> : <Waterfall steps={waterfallSteps(receipt, 0)} />}
      </Panel>
      <section className={styles['attempts']} aria-label="Placement">
        <h2 className={styles['heading']}>Why it ran where it ran</h2>
        {receipt.attempts.length === 0 && (
          <p className="sy-dim">{receipt.state === 'inflight' ? 'It waits for a worker that can take it.' : 'It never reached a worker.'}</p>
        )}
        {receipt.attempts.map((attempt, at) => (
          <AttemptCard key={at} attempt={attempt} number={at + 1} />
        ))}
      </section>
      <Panel title="Tokens">
        <TokenFacts receipt={receipt} />
      </Panel>
      <Panel title="The same by command">
        <CurlLine method="GET" path={path} />
      </Panel>
    </>
  );
}

function Facts({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  const { at, route, model, stream, status, timings } = receipt;
  const facts: readonly (readonly [string, JSX.Element | string])[] = [
    ['Came', <Ago key="at" at={at} />],
    ['Route', <span key="route" className="sy-mono">{route}</span>],
    ['Model', model ?? 'any'],
    ['Workers', <WorkerWay key="way" request={receipt} linked />],
    ['Answer', `${status ?? 'none yet'}${stream ? ', streamed' : ''}`],
    ['First byte', duration(timings.firstByteMs)],
    ['Total', receipt.state === 'inflight' ? 'still running' : duration(timings.totalMs)],
  ];
  return (
    <dl className={styles['facts']}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function RunningWaterfall({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  const ageMs = Math.max(0, useQuickNow() - Date.parse(receipt.at));
  return <Waterfall steps={waterfallSteps(receipt, ageMs)} />;
}

function Forgotten(): JSX.Element {
  return (
    <Panel title="Receipt">
      <EmptyState title="This request is not known any more">
        The router keeps the receipts of the requests in flight and of the latest ones that ended, in memory. This one is older, came before the router’s last
        start, or never came.
      </EmptyState>
    </Panel>
  );
}

function Waiting(): JSX.Element {
  return (
    <div role="status" aria-label="Loading the receipt" style={{ display: 'grid', gap: 12 }}>
      <Skeleton height={58} />
      <Skeleton height={170} />
      <Skeleton height={220} />
    </div>
  );
}
