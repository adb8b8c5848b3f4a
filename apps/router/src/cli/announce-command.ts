import { runAnnounce } from '../announce/announce.js';
import { type CommandIo } from '../command.js';

/** Announces an engine to the router. */
export function announceCommand(argv: readonly string[], io: CommandIo): Promise<number> {
  return runAnnounce(argv, io.env);
}
