import { Kbd, Modal, Table } from '@mantine/core';
import { type JSX } from 'react';

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
      <Table verticalSpacing={5}>
        <Table.Tbody>
          {keys.map(([key, does]) => (
            <Table.Tr key={key}>
              <Table.Th scope="row" w={90}>
                {key.split('  ').map((one) => (
                  <Kbd key={one} size="xs" mr={4}>
                    {one}
                  </Kbd>
                ))}
              </Table.Th>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
