import { spawn } from 'node:child_process';

/** Exit codes of a shell for a process that a signal ended. */
const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

const patienceMs = 1500;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
/** @type {Set<() => void>} */
const cleanups = new Set();
let ending = false;

function end(signal) {
  if (ending) return;
  ending = true;
  for (const cleanup of cleanups) cleanup();
  for (const child of running) child.kill(signal);
  // An interrupted npm takes its time to tidy up what the next run removes anyway.
  setTimeout(() => running.forEach((child) => child.kill('SIGKILL')), patienceMs).unref();
  const leave = () => process.exit(signalCodes[signal]);
  if (running.size === 0) leave();
  else Promise.all([...running].map((child) => new Promise((resolve) => child.once('exit', resolve)))).then(leave);
}

const handlers = Object.keys(signalCodes).map((signal) => [signal, () => end(signal)]);

/** From here on a signal to this process ends its children first. */
export function forwardSignals() {
  for (const [signal, handler] of handlers) process.on(signal, handler);
}

/** Leaves signals to whoever comes next in this process. */
export function stopForwardingSignals() {
  for (const [signal, handler] of handlers) process.off(signal, handler);
}

/** Runs `body`; `cleanup` runs after it, and also when a signal ends this process meanwhile. */
export async function withCleanup(cleanup, body) {
  cleanups.add(cleanup);
  try {
    return await body();
  } finally {
    cleanups.delete(cleanup);
    cleanup();
  }
}

/**
 * Runs a command to its end and gives its exit code, and its output when `capture` is set (it is shown all the same).
 * A command that takes longer than `limitMs` is ended and has failed.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string>, output?: 'stdout' | 'stderr', capture?: boolean, limitMs?: number }} [options]
 * @returns {Promise<{ code: number, text: string }>}
 */
export function run(command, args, { cwd, env = {}, output = 'stdout', capture = false, limitMs } = {}) {
  const shown = output === 'stderr' ? process.stderr : process.stdout;
  const inherited = output === 'stderr' ? 2 : 1;
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', capture ? 'pipe' : inherited, capture ? 'pipe' : 2],
    });
    running.add(child);
    const limit = limitMs === undefined ? undefined : setTimeout(() => {
      process.stderr.write(`${command} took longer than ${limitMs / 1000} s and is ended\n`);
      child.kill('SIGKILL');
    }, limitMs);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (part) => {
        text += part;
        shown.write(part);
      });
    }
    child.once('error', (error) => {
      clearTimeout(limit);
      running.delete(child);
      process.stderr.write(`cannot run ${command}: ${error.message}\n`);
      resolve({ code: 127, text });
    });
    child.once('close', (code, signal) => {
      clearTimeout(limit);
      running.delete(child);
      resolve({ code: code ?? signalCodes[signal] ?? 1, text });
    });
  });
}
