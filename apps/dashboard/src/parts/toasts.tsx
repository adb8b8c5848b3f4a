import { CloseButton } from '@mantine/core';
import { type JSX } from 'react';
import { create } from 'zustand';

import { ToneIcon } from './status-badge.js';
import styles from './toasts.module.css';
import { type StatusTone } from './worker-status.js';

export interface Toast {
  readonly title?: string;
  readonly message: string;
  readonly tone: StatusTone;
}

const shownMs: Readonly<Record<'bad' | 'good', number>> = { bad: 15_000, good: 5000 };
const mostShown = 4;

const useToasts = create<{ readonly toasts: readonly (Toast & { readonly key: number })[] }>(() => ({ toasts: [] }));
let lastKey = 0;

/** Says something in the corner for a while; refusals stay longer. */
export function tell(toast: Toast): void {
  const key = ++lastKey;
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts, { ...toast, key }].slice(-mostShown) }));
  setTimeout(() => dismiss(key), shownMs[toast.tone === 'down' ? 'bad' : 'good']);
}

const dismiss = (key: number): void => useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.key !== key) }));

export function Toasts(): JSX.Element {
  const toasts = useToasts((state) => state.toasts);
  return (
    <div className={styles['toasts']} role="region" aria-label="Notices">
      {toasts.map(({ key, tone, title, message }) => (
        <div key={key} className={styles['toast']} data-tone={tone} role={tone === 'down' ? 'alert' : 'status'}>
          <span className={styles['icon']}>
            <ToneIcon tone={tone} size={16} />
          </span>
          <span className={styles['text']}>
            {title !== undefined && <b>{title}</b>}
            {message}
          </span>
          <CloseButton size="sm" aria-label="Close" onClick={() => dismiss(key)} />
        </div>
      ))}
    </div>
  );
}
