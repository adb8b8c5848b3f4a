import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import { type JSX } from 'react';

import { CommandLine, curlOf } from '../parts/command-line.js';
import { type ActionCall } from './action-calls.js';
import { type Consequence } from './consequences.js';
import styles from './dialog.module.css';

/** What an action means, before it is done. */
export function ConsequenceList({ consequences }: { readonly consequences: readonly Consequence[] }): JSX.Element {
  return (
    <ul className={styles['facts']} aria-label="What this means">
      {consequences.map(({ text, isGrave }) => (
        <li key={text} {...(isGrave ? { 'data-grave': true } : {})}>
          {isGrave ? <IconAlertTriangle size={15} aria-hidden /> : <IconInfoCircle size={15} aria-hidden />}
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}

/** The same action for a shell, folded. */
export function AsCurl({ calls }: { readonly calls: readonly ActionCall[] }): JSX.Element {
  return (
    <details className={styles['curl']}>
      <summary>As curl</summary>
      <CommandLine command={calls.map(({ method, path, body }) => curlOf(method, path, body)).join('\n\n')} label="Copy as curl" />
    </details>
  );
}
