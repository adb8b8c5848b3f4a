import { Skeleton } from '@mantine/core';
import type { SettingView } from '@switchyard/core/contracts';
import { type JSX } from 'react';

import { type Listed } from '../../api/listed.js';
import { useAdmin, useMayAct } from '../../api/queries.js';
import { Refusal } from '../../parts/refusal.js';
import { Screen } from '../../parts/screen.js';
import { configPath } from './config-path.js';
import { LivePanel } from './live-panel.js';
import { RouterPanel } from './router-panel.js';
import { SessionPanel } from './session-panel.js';
import { SettingsPanel } from './settings-panel.js';
import styles from './settings.module.css';


const everyMs = 10_000;

/** What the router runs with and where each value comes from; operators change what may change while it runs. */
export function SettingsScreen(): JSX.Element {
  const mayAct = useMayAct();
  const answer = useAdmin<Listed<SettingView>>(configPath, { everyMs });
  const settings = answer.data?.items;
  return (
    <Screen title="Settings" about="What this router runs with, and where each value comes from: a flag, the environment, a file, its default, or an operator.">
      {answer.error !== null && <Refusal error={answer.error} onRetry={() => void answer.refetch()} />}
      <div className={styles['columns']}>
        <div className={styles['column']}>
          {settings === undefined ? (
            answer.isPending && <Skeleton height={420} aria-label="Loading the settings" role="status" />
          ) : (
            <>
              {mayAct && <LivePanel settings={settings} />}
              <SettingsPanel settings={settings} />
            </>
          )}
        </div>
        <div className={styles['column']}>
          <SessionPanel />
          <RouterPanel />
        </div>
      </div>
    </Screen>
  );
}
