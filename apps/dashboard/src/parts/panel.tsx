import { type JSX, type ReactNode, useId } from 'react';

import styles from './panel.module.css';

export interface PanelProps {
  readonly title: string;
  /** Beside the title, dimmed. */
  readonly note?: ReactNode;
  /** Controls at the right. */
  readonly side?: ReactNode;
  /** The body touches the border, e.g. for tables. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

/** A titled region of a screen. */
export function Panel({ title, note, side, flush = false, children }: PanelProps): JSX.Element {
  const id = useId();
  return (
    <section className={styles['panel']} aria-labelledby={id}>
      <div className={styles['head']}>
        <h2 className={styles['title']} id={id}>
          {title}
        </h2>
        {note !== undefined && <span className={styles['note']}>{note}</span>}
        {side !== undefined && <div className={styles['side']}>{side}</div>}
      </div>
      <div className={flush ? undefined : styles['body']}>{children}</div>
    </section>
  );
}

/** Says why there is nothing, and what would change that. */
export function EmptyState({ title, children }: { readonly title: string; readonly children?: ReactNode }): JSX.Element {
  return (
    <div className={styles['empty']}>
      <p className={styles['emptyTitle']}>{title}</p>
      {children !== undefined && <div className={styles['emptyText']}>{children}</div>}
    </div>
  );
}
