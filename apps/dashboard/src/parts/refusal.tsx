import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { type JSX } from 'react';

import { AdminError } from '../api/client.js';
import styles from './refusal.module.css';

/** What was refused or failed, and what to do about it. */
export function Refusal({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }): JSX.Element {
  const message = error instanceof Error ? error.message : String(error);
  const remedy = error instanceof AdminError ? error.remedy : undefined;
  return (
    <div className={styles['refusal']} role="alert">
      <IconAlertTriangle className={styles['icon']} size={18} aria-hidden />
      <div>
        <div className={styles['message']}>{message}</div>
        {remedy !== undefined && <p className={styles['remedy']}>{remedy}</p>}
        {onRetry !== undefined && (
          <Button variant="default" mt={8} onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}
