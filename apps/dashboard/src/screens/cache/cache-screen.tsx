import { Skeleton } from '@mantine/core';
import type { CacheView } from '@switchyard/core/contracts';
import { type JSX } from 'react';
import { useLocation } from 'wouter';
import { useSearch } from 'wouter/use-browser-location';

import { type Listed } from '../../api/listed.js';
import { useAdmin } from '../../api/queries.js';
import { useLive } from '../../live/live-store.js';
import { Panel } from '../../parts/panel.js';
import { Refusal } from '../../parts/refusal.js';
import { Screen } from '../../parts/screen.js';
import styles from './cache.module.css';
import { HitRatePanel } from './hit-rate-panel.js';
import { IndexTable } from './index-table.js';
import { NoIndex } from './no-index.js';
import { PrefixPanel } from './prefix-panel.js';
import { SharesPanel } from './shares-panel.js';

const everyMs = 2000;

/** Where prompts are believed to be cached, and how well that is used. */
export function CacheScreen(): JSX.Element {
  const following = useLive(({ link }) => link.phase !== 'paused');
  const answer = useAdmin<Listed<CacheView>>('/api/v1/cache', following ? { everyMs } : {});
  const query = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const indexes = answer.data?.items ?? [];
  const chosen = indexes.find(({ role, model }) => role === query.get('role') && model === query.get('model')) ?? indexes[0];

  const choose = ({ role, model }: CacheView): void => {
    navigate(`/cache?${new URLSearchParams({ role, model }).toString()}`, { replace: true });
  };

  return (
    <Screen
      title="Cache"
      about="Which worker is believed to hold which prompt prefix. Prompts are not stored: a prefix is known by its depth, its size and a hash of its first block."
    >
      {answer.error !== null && <Refusal error={answer.error} onRetry={() => void answer.refetch()} />}
      <div className={styles['top']}>
        <Panel title="Prefix indexes" note="one a role and model" flush>
          {answer.isPending ? <Waiting /> : chosen === undefined ? <NoIndex /> : <IndexTable indexes={indexes} chosen={chosen} onChoose={choose} />}
        </Panel>
        <HitRatePanel />
      </div>
      {chosen !== undefined && (
        <div className={styles['bottom']}>
          <SharesPanel index={chosen} />
          <PrefixPanel key={`${chosen.role} ${chosen.model}`} role={chosen.role} model={chosen.model} following={following} />
        </div>
      )}
    </Screen>
  );
}

function Waiting(): JSX.Element {
  return (
    <div role="status" aria-label="Loading" className={styles['waiting']}>
      <Skeleton height={22} />
      <Skeleton height={22} />
      <Skeleton height={22} />
    </div>
  );
}
