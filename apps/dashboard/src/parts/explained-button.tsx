import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import { type JSX, type ReactNode } from 'react';

export interface ExplainedButtonProps extends ButtonProps {
  /** Why it cannot be used now; `null` = it can. */
  readonly why: string | null;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** A button that, when it does nothing, says why; it keeps its place in the tab order so that everyone can ask. */
export function ExplainedButton({ why, onClick, children, ...rest }: ExplainedButtonProps): JSX.Element {
  return (
    <Tooltip label={why ?? ''} disabled={why === null} events={{ hover: true, focus: true, touch: true }}>
      <Button
        {...rest}
        aria-disabled={why !== null}
        {...(why === null ? {} : { 'data-disabled': true, title: why })}
        onClick={(event) => {
          event.stopPropagation();
          if (why === null) onClick();
        }}
      >
        {children}
      </Button>
    </Tooltip>
  );
}
