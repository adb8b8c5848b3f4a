import { EngineSim } from './engine-sim.js';
import { helpText, OptionsError, parseOptions, type SimOptions } from './options.js';

function readOptions(): SimOptions {
  try {
    const options = parseOptions(process.argv.slice(2));
    if (options !== 'help') return options;
    process.stdout.write(helpText());
    process.exit(0);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    process.stderr.write(`engine-sim: ${error.message}\n`);
    process.exit(2);
  }
}

const engine = new EngineSim(readOptions(), () => process.exit(1));
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0));
try {
  const { http, zmq } = await engine.start();
  process.stdout.write(`listening http=${http} zmq=${zmq}\n`);
} catch (error) {
  process.stderr.write(`engine-sim: cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
