import { type Icon } from '@tabler/icons-react';
import { type JSX, type ReactNode } from 'react';

import styles from './mark.module.css';
import { type StatusTone } from './worker-status.js';

export interface MarkProps {
  readonly tone: StatusTone;
  readonly icon: Icon;
  readonly children: ReactNode;
  readonly title?: string;
}

/** Icon, word and colour of something that is not a worker: an outcome, an event. */
export function Mark({ tone, icon: Shape, children, title }: MarkProps): JSX.Element {
  return (
    <span className={styles['mark']} data-tone={tone} title={title}>
      <Shape size={14} stroke={2} aria-hidden />
      <span className={styles['word']}>{children}</span>
    </span>
  );
}

/** A word in a box, without colour: a reason, a source. */
export function Tag({ children, title, strong = false }: { readonly children: ReactNode; readonly title?: string; readonly strong?: boolean }): JSX.Element {
  return (
    <span className={styles['tag']} data-strong={strong || undefined} title={title}>
      {children}
    </span>
  );
}
