import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { AdminClient } from './admin-client.js';
import { Child } from './child.js';

export const operatorToken = 'operator-token-for-tests';
export const viewerToken = 'viewer-token-for-tests';

export interface RouterOptions {
  /** `memory` unless a test restarts the router on it. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The built router as a process of its own, on free ports. */
export class RouterProcess {
  readonly child: Child;
  readonly admin: AdminClient;

  private constructor(
    child: Child,
    /** `HOST:PORT` of each listener. */
    readonly api: string,
    readonly adminAddress: string,
    readonly discovery: string,
  ) {
    this.child = child;
    this.admin = new AdminClient(`http://${adminAddress}`, operatorToken);
  }

  static async start(flags: readonly string[] = [], { dataDir = 'memory', env = {} }: RouterOptions = {}): Promise<RouterProcess> {
    const child = new Child(
      process.execPath,
      [
        'dist/apps/router/main.js',
        'serve',
        ...['--host', '127.0.0.1', '--port', '0', '--admin-port', '0', '--discovery-address', '127.0.0.1:0'],
        ...['--admin-token', operatorToken, '--viewer-token', viewerToken, '--data-dir', dataDir, '--log-format', 'json'],
        ...flags,
      ],
      env,
    );
    return await RouterProcess.attach(child);
  }

  /** The router that `child` is or becomes, once it listens. */
  static async attach(child: Child, timeoutMs?: number): Promise<RouterProcess> {
    const match = await child.line(/^listening api=(\S+) admin=(\S+) discovery=(\S+)$/, timeoutMs);
    const [, api = '', adminAddress = '', discovery = ''] = match;
    return new RouterProcess(child, api, adminAddress, discovery);
  }

  get url(): string {
    return `http://${this.api}`;
  }

  async post(path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
    return await fetch(`${this.url}${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
      headers: { 'content-type': 'application/json', ...(init.headers as Record<string, string> | undefined) },
    });
  }

  async stop(): Promise<number | null> {
    return await this.child.stop('SIGTERM');
  }
}

/** A directory that is gone after `use`. */
export async function withTemporaryDirectory<T>(use: (path: string) => Promise<T>): Promise<T> {
  const path = await mkdtemp(join(tmpdir(), 'switchyard-'));
  try {
    return await use(path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}
