import { type Cluster } from '@switchyard/core';

/** A list as every path but `/workers` answers it. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly seq: number;
  /** Where the next page begins, when there is one. */
  readonly next?: number;
}

export function listed<T>({ seq }: Pick<Cluster, 'seq'>, items: readonly T[]): Listed<T> {
  return { items, seq };
}
