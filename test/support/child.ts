import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { eventually } from './eventually.js';

/** Repository root, seen from the compiled or transformed test. */
export const root = new URL('../../', import.meta.url).pathname;

/** A process of ours with its output kept line by line. */
export class Child {
  readonly process: ChildProcess;
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  /** It has ended and all it wrote has been read. */
  #closed = false;

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.process = spawn(command, args, { cwd: root, env: { ...process.env, NODE_OPTIONS: '', ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const [stream, lines] of [
      [this.process.stdout, this.stdout],
      [this.process.stderr, this.stderr],
    ] as const) {
      if (stream === null) throw new Error('the child has no output');
      createInterface({ input: stream }).on('line', (line) => lines.push(line));
    }
    this.process.once('close', () => {
      this.#closed = true;
    });
  }

  get pid(): number {
    const { pid } = this.process;
    if (pid === undefined) throw new Error('the child did not start');
    return pid;
  }

  /** Exit code once it has ended; `null` while it runs or when a signal ended it. */
  get exitCode(): number | null {
    return this.process.exitCode;
  }

  get ended(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** The first line of stdout that matches, waiting for it; fails as soon as none can come any more. */
  async line(pattern: RegExp, timeoutMs = 20_000): Promise<RegExpExecArray> {
    const found = await eventually(
      `a line ${String(pattern)}`,
      () => {
        for (const line of this.stdout) {
          const match = pattern.exec(line);
          if (match !== null) return match;
        }
        return this.#closed ? 'ended' : null;
      },
      timeoutMs,
    );
    if (found === 'ended') throw new Error(`it ended with ${String(this.exitCode)} before a line ${String(pattern)}: ${this.stderr.slice(-5).join(' | ')}`);
    return found;
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.ended) this.process.kill(signal);
  }

  /** Waits for the end; returns the exit code (`null` for a signal). */
  async end(): Promise<number | null> {
    if (!this.ended) await once(this.process, 'exit');
    return this.exitCode;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM', killAfterMs = 10_000): Promise<number | null> {
    this.signal(signal);
    const killer = setTimeout(() => this.signal('SIGKILL'), killAfterMs);
    const code = await this.end();
    clearTimeout(killer);
    return code;
  }
}
