/** What a command may touch of the world. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** One line, or several, to stdout. */
  readonly out: (text: string) => void;
  /** The same to stderr. */
  readonly err: (text: string) => void;
}

/** Gives the exit code; `null` leaves the process to itself, as a server wants it. */
export type Command = (argv: readonly string[], io: CommandIo) => Promise<number | null>;

/** Exit codes outsiders may rely on. */
export const exitCodes = {
  ok: 0,
  /** Refused, unreachable, or faults found. */
  failed: 1,
  /** The command line, the settings or the data directory cannot be used. */
  unusable: 2,
  /** A wait ended before what was waited for. */
  timedOut: 3,
} as const;

/** A wrong command line; the message names the flag. */
export class UsageError extends Error {}
