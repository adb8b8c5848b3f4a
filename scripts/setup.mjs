import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { forwardSignals, run, stopForwardingSignals } from './child.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** What has to be there for each other script; a failed step ends the process with its own exit code. */
export class SetupFailed extends Error {}

const say = (text) => process.stderr.write(`${text}\n`);

/** Makes a fresh checkout runnable; ends the process, with its reason on stderr, when that cannot be done. */
export async function setUpOrExit() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    say(`Node ${process.versions.node} is too old: Switchyard needs 20.19 or newer`);
    process.exit(1);
  }
  forwardSignals();
  try {
    await ensureDependencies();
    await ensureBuilt();
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error;
    say(error.message);
    process.exit(1);
  }
  stopForwardingSignals();
}

/** Installs the locked dependencies unless those installed are the locked ones already. */
export async function ensureDependencies() {
  if (dependenciesAreLocked()) return;
  say('installing the locked dependencies (npm ci)');
  const npm = process.env.npm_execpath?.endsWith('.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];
  // Dev dependencies are needed to build, whatever NODE_ENV or the user's npm settings say.
  const { code } = await run(npm[0], [...npm.slice(1), 'ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: root, output: 'stderr' });
  if (code !== 0) throw new SetupFailed(`npm ci failed with exit code ${code}`);
}

/** npm writes `.package-lock.json` as the last step of an installation, so an interrupted one has none. */
function dependenciesAreLocked() {
  const installedFile = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  return Object.entries(locked).every(([path, { version, optional }]) => {
    if (!path.startsWith('node_modules/')) return true;
    const present = installed[path];
    return present === undefined ? optional === true : present.version === version;
  });
}

const servers = ['libs/core', 'apps/router', 'apps/engine-sim'];

/** What is built: from which sources, by which command, and what has to be there afterwards. */
const parts = [
  {
    name: 'server',
    sources: () => ['tsconfig.base.json', ...servers.flatMap((project) => [`${project}/package.json`, `${project}/tsconfig.json`, ...sourcesBelow(`${project}/src`)])],
    command: ['node_modules/typescript/bin/tsc', '-b', ...servers],
    products: ['libs/core/dist/index.js', 'dist/apps/router/main.js', 'dist/apps/engine-sim/main.js'],
  },
  {
    name: 'dashboard',
    sources: () => ['index.html', 'package.json', 'vite.config.ts'].map((file) => `apps/dashboard/${file}`).concat(...['apps/dashboard/src', 'apps/dashboard/public', 'libs/core/src'].map(sourcesBelow)),
    command: ['node_modules/vite/bin/vite.js', 'build', 'apps/dashboard', '--logLevel', 'warn'],
    products: ['dist/apps/dashboard/index.html'],
  },
];

/** Builds each part, unless its sources are those of its last good build. */
export async function ensureBuilt({ always = false } = {}) {
  for (const { name, sources, command, products } of parts) {
    const stampFile = join(root, `node_modules/.cache/switchyard/${name}-stamp`);
    const stamp = hashOf(['package-lock.json', ...sources()]);
    const isBuilt = products.every((product) => existsSync(join(root, product)));
    if (!always && isBuilt && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) continue;
    say(`building the ${name}`);
    const { code } = await run(process.execPath, command, { cwd: root, output: 'stderr' });
    if (code !== 0) throw new SetupFailed(`the build of the ${name} failed with exit code ${code}`);
    mkdirSync(dirname(stampFile), { recursive: true });
    writeFileSync(stampFile, stamp);
  }
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file))).update('\0');
  return hash.digest('hex');
}

function sourcesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.spec\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

const chromiumNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Path of the system's Chromium for browser tests; `undefined` when there is none. */
export function findChromium() {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => folder !== '');
  return folders.flatMap((folder) => chromiumNames.map((name) => join(folder, name))).find((file) => existsSync(file));
}

/** Installs Debian's Chromium where it is missing and may be installed, else says what to install. */
export async function ensureChromium() {
  if (findChromium() !== undefined) return;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say('installing Chromium for the browser tests (Debian package chromium)');
    const options = { output: 'stderr', env: { DEBIAN_FRONTEND: 'noninteractive' } };
    const updated = await run('apt-get', ['-q', 'update'], options);
    if (updated.code === 0) await run('apt-get', ['-q', 'install', '-y', '--no-install-recommends', 'chromium'], options);
  }
  if (findChromium() === undefined) say('no Chromium: for the browser tests install one, such as the Debian package chromium (apt-get install chromium)');
}
