import type { WorkerDetailView } from '@switchyard/core/contracts';
import { type JSX, type ReactNode } from 'react';

import { Ago } from '../../parts/ago.js';
import { bytes, count, duration, percent, plural } from '../../parts/format.js';
import { HeartbeatRing } from './heartbeat-ring.js';
import styles from './worker-drawer.module.css';

const reasons: Readonly<Record<WorkerDetailView['unselectableBecause'][number], string>> = {
  gated: 'it has not passed a health check yet',
  unhealthy: 'its health checks fail',
  restart_check: 'it may have restarted and is being asked',
  circuit_open: 'its circuit is open',
  draining: 'it is draining',
  drained: 'it is drained',
  at_capacity: 'it has as much work as it may take',
  connector_unsupported: 'its KV connector cannot be driven',
};

/** Admin state, health, heartbeat and circuit are four things; what follows from them is said below. */
export function StatesSection({ worker }: { readonly worker: WorkerDetailView }): JSX.Element {
  const { adminState, health, circuit, heartbeat, selectable, unselectableBecause, drain } = worker;
  return (
    <div className={styles['section']}>
      <dl className={styles['three']} style={{ margin: 0 }}>
        <One name="Admin state" tone={adminState === 'ready' ? 'ready' : 'draining'}>
          {adminState}
        </One>
        <One name="Health" tone={health === 'unhealthy' ? 'down' : health === 'healthy' ? 'ready' : 'late'}>
          {health}
        </One>
        <One name="Heartbeat" tone={heartbeat === 'lost' ? 'down' : heartbeat === 'late' ? 'late' : 'ready'}>
          <HeartbeatRing worker={worker} />
        </One>
        <One name="Circuit" tone={circuit === 'open' ? 'down' : circuit === 'closed' ? 'ready' : 'late'}>
          {circuit.replace('_', ' ')}
        </One>
      </dl>
      {!selectable && worker.leftAt === undefined && (
        <p className="sy-dim" style={{ margin: '6px 0 0' }}>
          Takes no new requests: {unselectableBecause.map((because) => reasons[because]).join('; ')}.
        </p>
      )}
      {drain !== null && (
        <p style={{ margin: '6px 0 0' }}>
          The drain was asked for by {drain.by} <Ago at={drain.since} />
          {drain.reason === null ? '' : `: “${drain.reason}”`}. It ends {drain.until === 'undrain' ? 'only by Undrain' : 'with a new engine process, or by Undrain'}.
          {drain.deadlineAt !== null && (
            <>
              {' '}
              Deadline: <Ago at={drain.deadlineAt} />.
            </>
          )}
        </p>
      )}
    </div>
  );
}

function One({ name, tone, children }: { readonly name: string; readonly tone: string; readonly children: ReactNode }): JSX.Element {
  return (
    <div className={styles['one']}>
      <dt>{name}</dt>
      <dd data-tone={tone}>{children}</dd>
    </div>
  );
}

/** What is known of it, for those who look things up. */
export function FactsSection({ worker }: { readonly worker: WorkerDetailView }): JSX.Element {
  const { connector, engine, latency, cache } = worker;
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Endpoint', <span key="endpoint" className="sy-mono">{worker.endpoint}</span>],
    ['KV address', worker.zmqAddress === null ? '–' : <span key="zmq" className="sy-mono">{worker.zmqAddress}</span>],
    ['Known from', worker.sources.join(', ')],
    ['Pairing group', worker.group],
    ['Connector', connector.evidence === 'none' ? connector.kind : `${connector.kind} (by ${connector.evidence})`],
    ['Models', worker.modelsKnown ? worker.models.join(', ') : 'not learnt yet'],
    ['Engine version', engine?.version ?? '–'],
    ['Registered', <Ago key="registered" at={worker.registeredAt} />],
    ['Requests', `${count(worker.processed)} begun: ${count(worker.succeeded)} succeeded, ${count(worker.failed)} failed, ${count(worker.cancelled)} cancelled`],
    ['Latency', latency === null ? '–' : `prefill ${duration(latency.prefillMs)}, first byte ${duration(latency.firstByteMs)}, chunk ${duration(latency.perChunkMs)}`],
    ['Cache', `${bytes(cache.coveredBytes)} of prompts, ${percent(cache.share)} of its pool`],
    ['Came and went', `${plural(worker.flaps.joinsLastHour, 'join')}, ${plural(worker.flaps.leavesLastHour, 'leave')} in the last hour${worker.flaps.flapping ? ': flapping' : ''}`],
  ];
  return (
    <section className={styles['section']} aria-label="Facts">
      <h3>Facts</h3>
      <dl className={styles['facts']}>
        {facts.map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
