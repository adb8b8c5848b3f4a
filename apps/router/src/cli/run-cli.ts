import { exitCodes, type Command, type CommandIo, UsageError } from '../command.js';
import { nearestName } from '../config/nearest-name.js';

interface CommandEntry {
  readonly summary: string;
  /** Loaded only when it runs, so that each command starts as fast as it can. */
  readonly load: () => Promise<Command>;
}

const commands: Readonly<Record<string, CommandEntry>> = {
  serve: { summary: 'run the router in the foreground (also without a command)', load: async () => (await import('./serve-command.js')).serveCommand },
  'check-config': {
    summary: 'print the effective settings and where each comes from',
    load: async () => (await import('./check-config-command.js')).checkConfigCommand,
  },
  announce: { summary: 'run beside an engine that does not announce itself', load: async () => (await import('./announce-command.js')).announceCommand },
  drain: { summary: 'ENDPOINT: no new requests there; with --wait until it may stop', load: async () => (await import('./drain-command.js')).drainCommand },
  undrain: { summary: 'ENDPOINT: requests again', load: async () => (await import('./drain-command.js')).undrainCommand },
  workers: { summary: 'list the workers', load: async () => (await import('./workers-command.js')).workersCommand },
  status: { summary: 'tell what the router can serve now', load: async () => (await import('./status-command.js')).statusCommand },
  docs: { summary: 'write the generated pages of the documentation; --check only compares', load: async () => (await import('./docs-command.js')).docsCommand },
};

/** Runs the command that `argv` (without node and script) asks for. */
export async function runCli(argv: readonly string[], io: CommandIo): Promise<number | null> {
  const [first] = argv;
  if (first === '--version' || first === '-V') {
    io.out((await import('../version.js')).version);
    return exitCodes.ok;
  }
  if (first === '--help' || first === '-h' || first === 'help') {
    io.out(await overview());
    return exitCodes.ok;
  }
  const named = first !== undefined && !first.startsWith('-');
  const name = named ? first : 'serve';
  const entry = commands[name];
  if (entry === undefined) {
    const near = nearestName(name, Object.keys(commands));
    io.err(`switchyard: there is no command ${JSON.stringify(name)}${near === undefined ? '' : `; did you mean ${near}?`} (see switchyard --help)`);
    return exitCodes.unusable;
  }
  try {
    return await (await entry.load())(named ? argv.slice(1) : argv, io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.err(`switchyard ${name}: ${error.message}`);
    return exitCodes.unusable;
  }
}

async function overview(): Promise<string> {
  const { settingsHelp } = await import('../config/help-text.js');
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(14)}${summary}`);
  return [
    'usage: switchyard [COMMAND] [flags]',
    '',
    'Commands (each takes --help):',
    ...lines,
    '',
    'Settings of serve and check-config. Each is also a variable (--admin-port is SWITCHYARD_ADMIN_PORT, lists',
    'comma-separated) and a key of the --config file (admin-port: 9000). Flags come before variables before the file.',
    '',
    settingsHelp(),
  ].join('\n');
}
