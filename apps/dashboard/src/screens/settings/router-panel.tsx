import type { AboutView } from '@switchyard/core/contracts';
import { type JSX } from 'react';

import { useAbout } from '../../api/queries.js';
import { Ago } from '../../parts/ago.js';
import { duration } from '../../parts/format.js';
import { Panel } from '../../parts/panel.js';
import styles from './settings.module.css';

/** What this router is and where it listens. */
export function RouterPanel(): JSX.Element | null {
  const about = useAbout().data;
  if (about === undefined) return null;
  return (
    <Panel title="This router">
      <dl className={styles['about']}>
        {factsOf(about).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function factsOf(about: AboutView): readonly (readonly [string, JSX.Element | string])[] {
  const { version, startedAt, advertiseHost, apiPort, adminPort, discoveryPort, durable, registrationTtlMs, handoffMaxAgeMs } = about;
  return [
    ['Version', version],
    ['Started', <Ago key="started" at={startedAt} />],
    ['Reached as', <span key="host" className="sy-mono">{advertiseHost}</span>],
    ['API port', String(apiPort)],
    ['Admin port', String(adminPort)],
    ['Discovery port', discoveryPort === null ? 'off' : String(discoveryPort)],
    ['Registration lives', duration(registrationTtlMs)],
    ['Hand-off lives', duration(handoffMaxAgeMs)],
    ['Drains, quarantine, events', durable ? 'survive a restart' : 'end with the process'],
  ];
}
