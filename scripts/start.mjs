/**
 * `npm start`: makes a fresh checkout runnable, then becomes the server. The server runs in this very process, so
 * signals to npm reach it and its exit code is npm's. Set-up speaks on stderr only: stdout belongs to the server.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { forwardSignals, stopForwardingSignals } from './child.mjs';
import { ensureBuilt, ensureDependencies, root, SetupFailed } from './setup.mjs';

forwardSignals();
try {
  await ensureDependencies();
  await ensureBuilt();
} catch (error) {
  if (!(error instanceof SetupFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
stopForwardingSignals();

const main = join(root, 'dist/apps/router/main.js');
process.argv[1] = main;
await import(pathToFileURL(main).href);
