import { type CommandIo } from './command.js';

/** Announces an engine to the router. */
export async function announceCommand(argv: readonly string[], io: CommandIo): Promise<number> {
  const announcer = '../announce/announce.js';
  const { runAnnounce } = (await import(announcer)) as { readonly runAnnounce: (argv: readonly string[], env: CommandIo['env']) => Promise<number> };
  return runAnnounce(argv, io.env);
}
