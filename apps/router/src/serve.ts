import 'reflect-metadata';

import { isIPv6 } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Logger } from 'pino';
import { Listeners } from './admin/about/listeners.js';
import { adminAdapter, prepareAdminApp } from './admin/admin-app.js';
import { AdminTokens } from './admin/access/admin-tokens.js';
import { AppModule } from './app.module.js';
import { type LoadedConfig } from './config/load-config.js';
import { DiscoveryService } from './discovery/discovery.service.js';
import { PoolsService } from './pools/pools.service.js';
import { ProbeService } from './pools/probe.service.js';
import { ProxyService } from './proxy/proxy.module.js';
import { StartError } from './start-error.js';
import { EventLog } from './store/event-log.js';
import { openStore } from './store/open-store.js';
import { createLogger, NestLog } from './telemetry/logging.js';

/** Runs the router with these settings until it is told to stop; resolves once all listeners are bound. */
export async function serve(loaded: LoadedConfig): Promise<void> {
  const { config } = loaded;
  const logger = createLogger({ ...config.log, terminal: process.stderr.isTTY });
  for (const warning of loaded.warnings) logger.warn(warning);
  const store = openStore(config.process.dataDir);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.with({ loaded, store, logger }), adminAdapter(), {
    logger: new NestLog(logger),
    abortOnError: false,
  });
  await prepareAdminApp(app);

  const proxy = app.get(ProxyService);
  const discovery = app.get(DiscoveryService);
  const pools = app.get(PoolsService);
  const probes = app.get(ProbeService);

  const api = await bound('--host/--port', () => proxy.listen(config.api.host, config.api.port));
  const admin = await bound('--admin-host/--admin-port', async () => {
    await app.listen(config.admin.port, config.admin.host);
    return app.getHttpServer().address();
  });
  await discovery.start();
  app.get(Listeners).bound({ apiPort: api.port, adminPort: admin.port, discoveryPort: portOf(discovery.address) });
  pools.start(discovery.heardFirst, () => probes.tick());
  probes.tick();

  const stop = async (): Promise<void> => {
    await pools.stop();
    await probes.stop();
    await discovery.stop();
    await proxy.close();
    await app.close();
    app.get(EventLog).flush();
    store.close();
  };
  stopOnSignal(proxy, config.process.shutdownGraceSecs * 1000, stop, logger);
  const { generated } = app.get(AdminTokens);
  if (generated !== null) process.stderr.write(`no --admin-token is set; operators log in at ${adminUrl(config.admin, admin)}#token=${generated}\n`);
  process.stdout.write(`listening api=${hostPort(api)} admin=${hostPort(admin)} discovery=${discovery.address}\n`);
}

interface Address {
  readonly address: string;
  readonly port: number;
}

async function bound(flags: string, listen: () => Promise<unknown>): Promise<Address> {
  try {
    return (await listen()) as Address;
  } catch (error) {
    throw new StartError(`cannot listen on ${flags}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Of `HOST:PORT`; `null` of `off`. */
function portOf(address: string): number | null {
  return address === 'off' ? null : Number(address.slice(address.lastIndexOf(':') + 1));
}

function hostPort({ address, port }: Address): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${String(port)}`;
}

/** A URL that opens on this machine: a listener on all addresses is reached on loopback. */
function adminUrl({ host }: { readonly host: string }, { port }: Address): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  return `http://${hostPort({ address: everywhere ? '127.0.0.1' : host, port })}/`;
}

/**
 * The first SIGTERM or SIGINT lets requests in progress end, for at most `graceMs`, while new ones are told that the
 * router is going; the second one ends the process at once.
 */
function stopOnSignal(proxy: ProxyService, graceMs: number, stop: () => Promise<void>, logger: Logger): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(signal === 'SIGINT' ? 130 : 143);
    stopping = true;
    logger.info({ signal, inflight: proxy.openRequests, graceMs }, 'stopping');
    void finish(signal);
  };
  const finish = async (signal: NodeJS.Signals): Promise<void> => {
    proxy.beginShutdown();
    const grace = AbortSignal.timeout(graceMs);
    const expired = new Promise<void>((resolve) => grace.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([proxy.drained(), expired]);
    proxy.abortAll();
    await stop();
    logger.info({ signal }, 'stopped');
    process.exit(0);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
