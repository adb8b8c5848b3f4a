import { readFileSync } from 'node:fs';

import { settingsHelp } from '../config/help-text.js';
import { loadConfig } from '../config/load-config.js';
import { StartError } from '../start-error.js';
import { exitCodes, type CommandIo } from '../command.js';

/** Runs the router. The server ends the process by itself once it is up. */
export async function serveCommand(argv: readonly string[], io: CommandIo): Promise<number | null> {
  if (argv.includes('--help') || argv.includes('-h')) {
    io.out(`usage: switchyard serve [flags]\n\n${settingsHelp()}`);
    return exitCodes.ok;
  }
  const loaded = loadConfig(argv, io.env, (path) => readFileSync(path, 'utf8'));
  if (!loaded.ok) {
    for (const fault of loaded.faults) io.err(`switchyard: ${fault}`);
    return exitCodes.unusable;
  }
  try {
    const { serve } = await import('../serve.js');
    await serve(loaded);
    return null;
  } catch (error) {
    // Some listeners may be open already; they must not keep a failed start alive.
    io.err(error instanceof StartError ? `switchyard: ${error.message}` : `switchyard: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    process.exit(error instanceof StartError ? exitCodes.unusable : exitCodes.failed);
  }
}
