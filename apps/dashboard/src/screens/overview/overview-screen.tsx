import { Skeleton } from '@mantine/core';
import { type JSX } from 'react';

import { useLive } from '../../live/live-store.js';
import { OutOfPool } from '../../actions/out-of-pool.js';
import { AttentionPanel } from './attention-panel.js';
import { FirstEngines } from './first-engines.js';
import { NowStrip } from './now-strip.js';
import styles from './overview-screen.module.css';
import { PairingPanel } from './pairing-panel.js';
import { PoolsPicture } from './pools-picture.js';
import { VerdictLine } from './verdict.js';

/** Can the cluster serve, what is odd, and where is the load? */
export function OverviewScreen(): JSX.Element {
  const known = useLive((state) => state.picture !== null);
  const isEmpty = useLive((state) => state.picture?.workers.size === 0);
  if (!known) return <Skeleton height={360} aria-label="Waiting for the router" />;
  return (
    <div className={styles['screen']}>
      <VerdictLine />
      {isEmpty ? (
        <FirstEngines />
      ) : (
        <>
          <NowStrip />
          <div className={styles['columns']}>
            <PoolsPicture />
            <div className={styles['side']}>
              <AttentionPanel />
              <PairingPanel />
            </div>
          </div>
        </>
      )}
      <OutOfPool />
    </div>
  );
}
