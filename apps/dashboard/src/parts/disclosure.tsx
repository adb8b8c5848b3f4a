import { Button } from '@mantine/core';
import { type JSX, type ReactNode, useEffect, useId, useRef, useState } from 'react';

import styles from './disclosure.module.css';

export interface DisclosureProps {
  readonly label: string;
  readonly icon: ReactNode;
  readonly children: ReactNode;
}

/** A button that unfolds a small panel of controls; Escape or a click elsewhere folds it. */
export function Disclosure({ label, icon, children }: DisclosureProps): JSX.Element {
  const [opened, setOpened] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!opened) return;
    const onPointer = (event: PointerEvent): void => {
      if (event.target instanceof Node && place.current?.contains(event.target) !== true) setOpened(false);
    };
    document.addEventListener('pointerdown', onPointer);
    return () => document.removeEventListener('pointerdown', onPointer);
  }, [opened]);
  return (
    <div
      ref={place}
      className={styles['place']}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !opened) return;
        event.stopPropagation();
        setOpened(false);
        button.current?.focus();
      }}
    >
      <Button ref={button} variant="default" size="compact-sm" leftSection={icon} aria-expanded={opened} aria-controls={id} onClick={() => setOpened(!opened)}>
        {label}
      </Button>
      {opened && (
        <div id={id} className={styles['panel']} role="group" aria-label={label}>
          {children}
        </div>
      )}
    </div>
  );
}
