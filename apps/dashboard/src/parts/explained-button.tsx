import { Button, type ButtonProps } from '@mantine/core';
import { type JSX, type ReactNode, useId } from 'react';

import styles from './explained-button.module.css';

export interface ExplainedButtonProps extends ButtonProps {
  /** Why it cannot be used now; `null` = it can. */
  readonly why: string | null;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** A button that, when it does nothing, says why; it keeps its place in the tab order so that everyone can ask. */
export function ExplainedButton({ why, onClick, children, ...rest }: ExplainedButtonProps): JSX.Element {
  const id = useId();
  return (
    <span className={styles['place']}>
      <Button
        {...rest}
        aria-disabled={why !== null}
        {...(why === null ? {} : { 'data-disabled': true, 'aria-describedby': id })}
        onClick={() => {
          if (why === null) onClick();
        }}
      >
        {children}
      </Button>
      {why !== null && (
        <span className={styles['why']} id={id} role="note">
          {why}
        </span>
      )}
    </span>
  );
}
