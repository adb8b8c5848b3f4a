import type { SettingView } from '@switchyard/core/contracts';

type Source = SettingView['source'];

/** Where a value comes from, as short as it can be told: `--port`, `SWITCHYARD_PORT`, the file, `default`, `operator`. */
export function sourceWord({ kind, label }: Source): string {
  return kind === 'admin' ? 'operator' : label;
}

export function sourceMeaning({ kind, label }: Source): string {
  switch (kind) {
    case 'flag':
      return `Given by the flag ${label} at the start`;
    case 'env':
      return `Given by the environment variable ${label} at the start`;
    case 'file':
      return `Read from ${label} at the start`;
    case 'default':
      return label === 'default' ? 'Nobody set it' : `Nobody set it: ${label}`;
    case 'admin':
      return `Changed by an operator through the ${label}; holds until the router ends`;
    default:
      return kind satisfies never;
  }
}
