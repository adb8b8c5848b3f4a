import { type JSX, type ReactNode } from 'react';

import styles from './screen.module.css';

export interface ScreenProps {
  readonly title: ReactNode;
  /** One line below the title: what this screen is about. */
  readonly about?: ReactNode;
  /** Controls at the right of the title. */
  readonly side?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of a screen: its one heading, what it is about, and its panels below each other. */
export function Screen({ title, about, side, children }: ScreenProps): JSX.Element {
  return (
    <div className={styles['screen']}>
      <header className={styles['head']}>
        <div className={styles['words']}>
          <h1 className={styles['title']}>{title}</h1>
          {about !== undefined && <p className={styles['about']}>{about}</p>}
        </div>
        {side !== undefined && <div className={styles['side']}>{side}</div>}
      </header>
      {children}
    </div>
  );
}
