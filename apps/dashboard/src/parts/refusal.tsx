import { Alert, Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { type JSX } from 'react';

import { AdminError } from '../api/client.js';

/** What was refused or failed, and what to do about it. */
export function Refusal({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }): JSX.Element {
  const message = error instanceof Error ? error.message : String(error);
  const remedy = error instanceof AdminError ? error.remedy : undefined;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} title={message} role="alert">
      {remedy}
      {onRetry !== undefined && (
        <Button variant="default" mt={remedy === undefined ? 0 : 8} onClick={onRetry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}
