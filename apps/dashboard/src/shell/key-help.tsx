import { Kbd, Modal } from '@mantine/core';
import { type JSX } from 'react';

import styles from './key-help.module.css';

const keys = [
  ['/', 'Filter the list'],
  ['j  k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['d', 'Drain the row, the open worker or the selection'],
  ['Esc', 'Close, or leave the filter'],
  ['?', 'These keys'],
] as const;

export interface KeyHelpProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function KeyHelp({ opened, onClose }: KeyHelpProps): JSX.Element {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys" size="sm" closeButtonProps={{ 'aria-label': 'Close' }}>
      <dl className={styles['keys']}>
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt>
              {key.split('  ').map((one) => (
                <Kbd key={one} size="xs" mr={4}>
                  {one}
                </Kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
