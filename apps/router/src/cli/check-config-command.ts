import { readFileSync } from 'node:fs';

import { type EffectiveSetting, effectiveConfig } from '../config/effective-config.js';
import { loadConfig } from '../config/load-config.js';
import { exitCodes, type CommandIo } from '../command.js';

/** Prints the settings in force as a `--config` file would say them, secrets masked, or one line a fault. */
export async function checkConfigCommand(argv: readonly string[], io: CommandIo): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    io.out('usage: switchyard check-config [--json] [flags of serve]');
    return exitCodes.ok;
  }
  const loaded = loadConfig(
    argv.filter((word) => word !== '--json'),
    io.env,
    (path) => readFileSync(path, 'utf8'),
  );
  if (!loaded.ok) {
    for (const fault of loaded.faults) io.err(fault);
    return exitCodes.failed;
  }
  const effective = effectiveConfig(loaded);
  if (argv.includes('--json')) io.out(JSON.stringify({ items: effective, warnings: loaded.warnings }, null, 2));
  else {
    const lines = effective.map((setting) => [yamlLine(setting), setting.source.label] as const);
    const width = Math.min(60, Math.max(...lines.map(([line]) => line.length)));
    io.out(lines.map(([line, source]) => `${line.padEnd(width)}  # ${source}`).join('\n'));
    for (const warning of loaded.warnings) io.err(`warning: ${warning}`);
  }
  return Promise.resolve(exitCodes.ok);
}

function yamlLine({ name, value, shown }: EffectiveSetting): string {
  if (name === 'config' || shown === '') return `# ${name}:${shown === '' ? '' : ` ${shown}`}`;
  if (Array.isArray(value)) return `${name}: [${shown.split(',').map(yamlText).join(', ')}]`;
  return `${name}: ${yamlText(shown)}`;
}

function yamlText(text: string): string {
  return /^[\w./][\w./:+-]*$/.test(text) ? text : JSON.stringify(text);
}
