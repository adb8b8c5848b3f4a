/**
 * `npm test`: everything that has to hold, with one exit code. The last line counts all steps and all tests.
 * `--long` runs the same cases with their full durations and counts; `--only lint,unit` runs some steps.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { forwardSignals, run, withCleanup } from './child.mjs';
import { ensureBuilt, ensureChromium, ensureDependencies, findChromium, root, SetupFailed } from './setup.mjs';

const args = process.argv.slice(2);
const only = args.includes('--only') ? (args[args.indexOf('--only') + 1] ?? '').split(',') : undefined;

const environment = {
  // nx without a background process, without its cloud, without telling anybody.
  NX_DAEMON: 'false',
  NX_NO_CLOUD: 'true',
  NX_TUI: 'false',
  NX_SKIP_REMOTE_CACHE: 'true',
  NX_ANALYTICS: 'false',
  ...(process.stdout.isTTY ? {} : { FORCE_COLOR: '0' }),
  ...(args.includes('--long') ? { SWITCHYARD_TEST_LONG: '1' } : {}),
};

/** A step that hangs is a failed step, not a hanging build. */
const limitMs = (args.includes('--long') ? 60 : 15) * 60_000;

const node = (script, ...rest) => run(process.execPath, [script, ...rest], { cwd: root, env: environment, limitMs });
const succeeded = ({ code }) => code === 0;

/** Files that break a module boundary, and the words by which lint has to refuse them. */
const planted = [
  { path: 'libs/core/src/planted-violation.ts', text: "import '../../../apps/router/src/main.js';\n", refusal: 'Projects cannot be imported' },
  {
    path: 'apps/engine-sim/src/planted-violation.ts',
    text: "import '@switchyard/core';\n",
    refusal: 'Allowed here: @switchyard/core/protocol',
  },
];

/** Lint that cannot fail proves nothing: it has to refuse what must never be written. */
async function boundaries() {
  const remove = () => {
    for (const { path } of planted) rmSync(join(root, path), { force: true });
  };
  return withCleanup(remove, async () => {
    for (const { path, text } of planted) writeFileSync(join(root, path), text);
    const { code, text } = await run(process.execPath, [nx, 'run-many', '-t', 'lint', '-p', 'core,engine-sim', '--skip-nx-cache', '--output-style=static'], {
      cwd: root,
      env: { ...environment, FORCE_COLOR: '0' },
      capture: true,
    });
    const missed = planted.filter(({ path, refusal }) => !(text.includes(path) && text.includes(refusal)));
    for (const { path } of missed) console.log(`lint has not refused ${path}`);
    if (code !== 0 && missed.length === 0) console.log('refused, as it has to be');
    return code !== 0 && missed.length === 0;
  });
}

const nx = 'node_modules/nx/dist/bin/nx.js';
const counts = { passed: 0, failed: 0, skipped: 0 };

async function jest(project, ...rest) {
  const outputFile = join(root, `tmp/jest-${project}.json`);
  mkdirSync(join(root, 'tmp'), { recursive: true });
  rmSync(outputFile, { force: true });
  const { code } = await run(
    process.execPath,
    ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js', '--selectProjects', project, '--json', `--outputFile=${outputFile}`, '--forceExit', ...rest],
    { cwd: root, env: environment, limitMs },
  );
  try {
    const result = JSON.parse(readFileSync(outputFile, 'utf8'));
    counts.passed += result.numPassedTests;
    counts.failed += result.numFailedTests + result.numRuntimeErrorTestSuites;
    counts.skipped += result.numPendingTests + result.numTodoTests;
  } catch {
    console.log(`jest left no result for ${project}`);
  }
  return code === 0;
}

const steps = [
  {
    name: 'set-up',
    needed: true,
    run: async () => {
      await ensureDependencies();
      await ensureChromium();
      return true;
    },
  },
  { name: 'build', needed: true, run: async () => ensureBuilt({ always: true }).then(() => true) },
  { name: 'lint', run: async () => succeeded(await node(nx, 'run-many', '-t', 'lint', '--output-style=static')) },
  { name: 'boundaries', run: boundaries },
  { name: 'types', run: async () => succeeded(await node('node_modules/typescript/bin/tsc', '-b')) },
  { name: 'docs', run: async () => succeeded(await node('dist/apps/router/main.js', 'docs', '--check')) },
  { name: 'unit', run: () => jest('unit', '--maxWorkers=2') },
  { name: 'e2e', run: () => jest('e2e', '--maxWorkers=2') },
  {
    name: 'browser',
    skip: () => (findChromium() === undefined ? 'there is no Chromium, and none could be installed' : undefined),
    run: () => jest('browser', '--runInBand'),
  },
];

forwardSignals();
for (const step of steps) {
  if (only !== undefined && step.needed !== true && !only.includes(step.name)) continue;
  console.log(`\n=== ${step.name}`);
  const reason = step.skip?.();
  if (reason !== undefined) {
    counts.skipped += 1;
    console.log(`=== ${step.name} skipped: ${reason}`);
    continue;
  }
  const begun = performance.now();
  let passed = false;
  try {
    passed = await step.run();
  } catch (error) {
    console.log(error instanceof SetupFailed ? error.message : error);
  }
  counts[passed ? 'passed' : 'failed'] += 1;
  console.log(`=== ${step.name} ${passed ? 'passed' : 'FAILED'} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
  if (!passed && step.needed === true) break;
}

console.log(`\n${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`);
process.exitCode = counts.failed > 0 ? 1 : 0;
