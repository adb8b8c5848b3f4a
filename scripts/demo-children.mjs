import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { root } from './setup.mjs';

const patienceMs = 5000;

/** The processes of the demo. One that ends unasked ends the demo: `onLost` gets its name and exit code. */
export class DemoChildren {
  #running = new Map();
  /** Names of those that were asked to end. */
  #asked = new Set();
  #onLost;

  constructor(onLost) {
    this.#onLost = onLost;
  }

  /** Own process groups: a Ctrl-C reaches the demo's script alone, which then ends them in order. */
  start(name, script, args, env = {}) {
    const child = spawn(process.execPath, [join(root, script), ...args], {
      cwd: root,
      detached: true,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#running.set(name, child);
    this.#asked.delete(name);
    child.once('exit', (code, signal) => {
      this.#running.delete(name);
      if (!this.#asked.has(name)) this.#onLost(name, signal ?? `exit code ${code}`, code);
    });
    return child;
  }

  async stop(name) {
    const child = this.#running.get(name);
    if (child === undefined) return;
    this.#asked.add(name);
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await Promise.race([gone, sleep(patienceMs, undefined, { ref: false }).then(() => child.kill('SIGKILL'))]);
    await gone;
  }

  async stopAll() {
    await Promise.all([...this.#running.keys()].map((name) => this.stop(name)));
  }
}
