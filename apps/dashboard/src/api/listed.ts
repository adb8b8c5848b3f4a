/** A list as the admin API gives it; `next` continues it where it was cut. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly seq: number;
  readonly next?: number;
}
