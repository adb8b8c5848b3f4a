import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type EngineProcess } from '../../support/engine-process.js';
import { Started } from '../../support/fleet.js';
import { type RouterProcess } from '../../support/router-process.js';

/** Beats fast and is missed soon. */
export const quickHealth = ['--health-check-interval-secs', '0.5', '--health-failure-threshold', '2'];

/** A router with a store of its own, so that its workers have short names, and engines that register by themselves. */
export class BrowserCluster extends Started {
  /** A directory that is gone at the end. */
  async dataDir(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), 'switchyard-browser-'));
    return this.add(made, async (path) => await rm(path, { recursive: true, force: true }));
  }

  async durableRouter(flags: readonly string[] = [], dataDir?: string): Promise<RouterProcess> {
    return await this.router([...quickHealth, ...flags], { dataDir: dataDir ?? (await this.dataDir()) });
  }

  /** A NIXL engine that pings the router every second and answers as long as it is asked to. */
  async nixl(router: RouterProcess, role: 'prefill' | 'decode', flags: readonly string[] = []): Promise<EngineProcess> {
    return await this.engine(['--role', role, '--connector', 'nixl', '--router', router.discovery, '--ping-interval-secs', '1', '--output-tokens', '100000', ...flags]);
  }
}
