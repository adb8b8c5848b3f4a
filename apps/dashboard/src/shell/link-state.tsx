import { ActionIcon } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { type JSX } from 'react';

import { usePausing } from '../live/live-context.js';
import { type LiveLink, useLive } from '../live/live-store.js';
import { useQuickNow } from '../live/use-now.js';
import { clock } from '../parts/format.js';
import styles from './shell.module.css';

/** Whether what is seen is now, and since when it is not. */
export function LinkState(): JSX.Element {
  const link = useLive((state) => state.link);
  const setPaused = usePausing();
  const paused = link.phase === 'paused';
  const label = paused ? 'Resume live updates' : 'Pause live updates';
  return (
    <>
      <span className={styles['link-state']} data-phase={link.phase} role="group" aria-label="Live connection">
        <span className={styles['dot']} />
        <LinkText link={link} />
      </span>
      <ActionIcon
        aria-label={label}
        title={label}
        onClick={() => {
          setPaused(!paused);
        }}
      >
        {paused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
      </ActionIcon>
    </>
  );
}

function LinkText({ link }: { readonly link: LiveLink }): JSX.Element {
  const now = useQuickNow();
  const { phase, heardAt, retryAt } = link;
  const retry = retryAt === null ? '' : `, retrying at ${clock(retryAt)}`;
  switch (phase) {
    case 'connecting':
      return <>{`Connecting${retry}`}</>;
    case 'live':
      return <>{`updated ${(Math.max(0, now - (heardAt ?? now)) / 1000).toFixed(1)} s ago`}</>;
    case 'stale':
      return <>{`stale since ${clock(heardAt ?? now)}${retry}`}</>;
    case 'paused':
    case 'asleep':
      return <>{`paused at ${clock(heardAt ?? now)}`}</>;
  }
}
