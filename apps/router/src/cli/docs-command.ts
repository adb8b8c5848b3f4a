import { fileURLToPath } from 'node:url';

import { exitCodes, type CommandIo, UsageError } from '../command.js';
import { bringUpToDate, type GeneratedDoc } from './generated-docs.js';
import { settingsPage, settingsTable } from './settings-reference.js';

/** Everything in the documentation that is made from the code. */
const generatedDocs: readonly GeneratedDoc[] = [
  { path: 'docs/reference/configuration.md', section: null, render: settingsPage },
  { path: 'README.md', section: 'settings', render: settingsTable },
  { path: 'docs/reference/metrics.md', section: null, render: async () => (await import('../admin/admin-reference.js')).metricsReference() },
  { path: 'docs/reference/openapi.json', section: null, render: async () => (await import('../admin/admin-reference.js')).openApiReference() },
];

/** Writes the generated documentation; with `--check` only says what differs. */
export async function docsCommand(argv: readonly string[], io: CommandIo): Promise<number> {
  const usage = 'usage: switchyard docs [--check]';
  if (argv.includes('--help') || argv.includes('-h')) {
    io.out(usage);
    return exitCodes.ok;
  }
  const check = argv.includes('--check');
  if (argv.some((word) => word !== '--check')) throw new UsageError(usage);
  // Both src/cli and dist/apps/router/cli lie four folders below the root.
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const stale = await bringUpToDate(root, generatedDocs, check);
  for (const path of stale) io.err(check ? `${path} differs from the code: run npm run docs` : `wrote ${path}`);
  return check && stale.length > 0 ? exitCodes.failed : exitCodes.ok;
}
