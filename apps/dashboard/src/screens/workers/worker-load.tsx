import type { WorkerDetailView } from '@switchyard/core/contracts';
import { type JSX } from 'react';
import { Link } from 'wouter';

import { count, duration, percent, plural } from '../../parts/format.js';
import { ledgerOf } from '../../parts/load-ledger.js';
import styles from './worker-drawer.module.css';

/** The router's count beside the engine's own. */
export function LoadSection({ worker }: { readonly worker: WorkerDetailView }): JSX.Element {
  const ledger = ledgerOf(worker);
  const kvUsage = worker.engine?.kvUsage ?? null;
  return (
    <section className={styles['section']} aria-label="Load ledger">
      <h3>
        Load ledger <small>{ledger === null ? 'the engine says nothing of itself' : `engine numbers are ${ledger.ageMs < 1000 ? 'less than 1 s old' : `${duration(ledger.ageMs)} old`}`}</small>
      </h3>
      <dl className={styles['three']} style={{ margin: 0 }}>
        <Gauge name="Router in flight" value={count(worker.load)} />
        <Gauge name="Engine running" value={ledger === null ? '–' : count(ledger.running)} />
        <Gauge name="Engine waiting" value={ledger === null ? '–' : count(ledger.waiting)} />
        <Gauge name="KV cache used" value={percent(kvUsage)} />
      </dl>
      {ledger?.isDrifting === true && (
        <p className={styles['note']} data-tone="late" style={{ margin: '6px 0 0' }}>
          {ledger.drift > 0
            ? `The engine has ${plural(ledger.drift, 'request')} more than the router sent: something else calls it, or work was left there.`
            : `The engine has ${plural(-ledger.drift, 'request')} fewer than the router counts on it.`}
        </p>
      )}
    </section>
  );
}

function Gauge({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return (
    <div className={styles['one']}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** The requests and holds that make up its load. */
export function InflightSection({ worker }: { readonly worker: WorkerDetailView }): JSX.Element {
  const { inflight, holdList } = worker;
  const rows = [
    ...inflight.map(({ requestId, phase, model, ageMs, stream }) => ({ requestId, what: stream ? `${phase}, stream` : phase, model: model ?? '–', ageMs })),
    ...holdList.map(({ requestId, kind, ageMs }) => ({ requestId, what: kind === 'kvOut' ? 'KV kept for decode' : 'decode is bound to it', model: '–', ageMs })),
  ].sort((a, b) => b.ageMs - a.ageMs);
  return (
    <section className={styles['section']} aria-label="Explain this load">
      <h3>
        Explain this load <small>{plural(inflight.length, 'request')}{holdList.length === 0 ? '' : `, ${plural(holdList.length, 'hand-off')}`}</small>
      </h3>
      {rows.length === 0 ? (
        <p className="sy-dim" style={{ margin: 0 }}>
          Nothing is on it.
        </p>
      ) : (
        <div className={styles['scroll']} tabIndex={0} role="group" aria-label="Requests on this worker">
          <table className={`${styles['table'] ?? ''} ${styles['requests'] ?? ''}`}>
            <thead>
              <tr>
                <th scope="col">Request</th>
                <th scope="col">Phase</th>
                <th scope="col">Model</th>
                <th scope="col" className={styles['right']}>
                  Age
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ requestId, what, model, ageMs }, at) => (
                <tr key={`${requestId} ${what} ${at}`}>
                  <td title={requestId}>
                    <Link href={`/requests/${encodeURIComponent(requestId)}`} className="sy-mono">
                      {requestId}
                    </Link>
                  </td>
                  <td>{what}</td>
                  <td title={model}>{model}</td>
                  <td className={styles['right']}>{duration(ageMs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
