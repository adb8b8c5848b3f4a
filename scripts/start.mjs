/**
 * `npm start`: makes a fresh checkout runnable, then becomes the server. The server runs in this very process, so
 * signals to npm reach it and its exit code is npm's. Set-up speaks on stderr only: stdout belongs to the server.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { root, setUpOrExit } from './setup.mjs';

await setUpOrExit();

const main = join(root, 'dist/apps/router/main.js');
process.argv[1] = main;
await import(pathToFileURL(main).href);
