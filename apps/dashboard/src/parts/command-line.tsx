import { ActionIcon } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { type JSX } from 'react';

import { type Method } from '../api/client.js';
import styles from './command-line.module.css';

/** A command to paste, with a button that copies it. */
export function CommandLine({ command, label = 'Copy the command' }: { readonly command: string; readonly label?: string }): JSX.Element {
  const clipboard = useClipboard({ timeout: 1500 });
  return (
    <div className={styles['box']}>
      <pre className={styles['text']} tabIndex={0} aria-label="Command">
        {command}
      </pre>
      <ActionIcon
        className={styles['copy'] ?? ''}
        aria-label={clipboard.copied ? 'Copied' : label}
        onClick={() => {
          clipboard.copy(command);
        }}
      >
        {clipboard.copied ? <IconCheck size={15} /> : <IconCopy size={15} />}
      </ActionIcon>
    </div>
  );
}

/** The `curl` equivalent of a call of the admin API. */
export function curlOf(method: Method, path: string, body?: unknown): string {
  const lines = [`curl -X ${method} '${window.location.origin}${path}'`, `-H "Authorization: Bearer $SWITCHYARD_TOKEN"`];
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`);
  return lines.join(' \\\n  ');
}

export interface CurlProps {
  readonly method: Method;
  readonly path: string;
  readonly body?: unknown;
}

export function CurlLine({ method, path, body }: CurlProps): JSX.Element {
  return <CommandLine command={curlOf(method, path, body)} label="Copy as curl" />;
}
