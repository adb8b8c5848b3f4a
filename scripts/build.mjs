/** `npm run build`: installs the locked dependencies where they are missing and builds. */
import { forwardSignals } from './child.mjs';
import { ensureBuilt, ensureDependencies, SetupFailed } from './setup.mjs';

forwardSignals();
try {
  await ensureDependencies();
  await ensureBuilt({ always: true });
} catch (error) {
  if (!(error instanceof SetupFailed)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
