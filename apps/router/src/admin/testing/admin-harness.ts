import 'reflect-metadata';

import { type IncomingMessage } from 'node:http';
import { type Socket } from 'node:net';

import { Writable } from 'node:stream';

import { type ModuleMetadata } from '@nestjs/common';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { type Cluster, type GrantId, type PrefixKey, type Registration, type Role } from '@switchyard/core';

import { ConfigModule } from '../../config/config.module.js';
import { loadConfig } from '../../config/load-config.js';
import { CLUSTER } from '../../pools/pools.service.js';
import { StoreModule } from '../../store/store.module.js';
import { MemoryStore } from '../../store/memory.store.js';
import { type Store } from '../../store/store.js';
import { createLogger, NestLog } from '../../telemetry/logging.js';
import { TelemetryModule } from '../../telemetry/telemetry.module.js';
import { adminAdapter, prepareAdminApp } from '../admin-app.js';
import { AdminModule } from '../admin.module.js';
import { DASHBOARD_DIRECTORY } from '../dashboard/dashboard-directory.js';
import { LIVE_LIMITS, type LiveLimits, liveLimits } from '../live/live-limits.js';

export const operatorToken = 'op-secret-token';
export const viewerToken = 'view-secret-token';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

/** The admin listener on a real port over a real cluster; engines are what a test registers. */
export class AdminHarness {
  readonly app: NestFastifyApplication;
  readonly cluster: Cluster;
  readonly origin: string;
  readonly logLines: string[];
  /** Templates of all routes. */
  readonly routes: ReadonlySet<string>;

  readonly #upgraded: ReadonlySet<Socket>;

  private constructor(app: NestFastifyApplication, origin: string, logLines: string[], routes: ReadonlySet<string>, upgraded: ReadonlySet<Socket>) {
    this.app = app;
    this.cluster = app.get<Cluster>(CLUSTER);
    this.origin = origin;
    this.logLines = logLines;
    this.routes = routes;
    this.#upgraded = upgraded;
  }

  /** The router's side of the live connections there are. */
  liveSockets(): Socket[] {
    return [...this.#upgraded];
  }

  static async start(options: { readonly flags?: readonly string[]; readonly store?: Store; readonly live?: LiveLimits; readonly dashboard?: string } = {}): Promise<AdminHarness> {
    const { flags = ['--admin-token', operatorToken, '--viewer-token', viewerToken], store = new MemoryStore(), live = liveLimits, dashboard = '/nonexistent/dashboard' } = options;
    const loaded = loadConfig(['--no-health-gate', '--data-dir', 'memory', ...flags], {}, () => '');
    if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
    const logLines: string[] = [];
    const logger = createLogger({ level: 'info', format: 'json', terminal: false }, linesTo(logLines));
    const module: ModuleMetadata = {
      imports: [ConfigModule.with(loaded), StoreModule.with(store, logger), TelemetryModule.with(logger), AdminModule],
    };
    const routes = new Set<string>();
    const adapter = adminAdapter();
    adapter.getInstance().addHook('onRoute', ({ url }) => void routes.add(url));
    const tested = await Test.createTestingModule(module)
      .overrideProvider(LIVE_LIMITS)
      .useValue(live)
      .overrideProvider(DASHBOARD_DIRECTORY)
      .useValue(dashboard)
      .setLogger(new NestLog(logger))
      .compile();
    const app = tested.createNestApplication<NestFastifyApplication>(adapter, { logger: new NestLog(logger) });
    await prepareAdminApp(app);
    await app.listen(0, '127.0.0.1');
    const upgraded = new Set<Socket>();
    app.getHttpServer().on('upgrade', ({ socket }: IncomingMessage) => {
      upgraded.add(socket);
      socket.once('close', () => upgraded.delete(socket));
    });
    const { port } = app.getHttpServer().address() as { port: number };
    return new AdminHarness(app, `http://127.0.0.1:${port}`, logLines, routes, upgraded);
  }

  async close(): Promise<void> {
    await this.app.close();
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = { authorization: `Bearer ${operatorToken}` }): Promise<Answer> {
    const answer = await fetch(`${this.origin}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const json = answer.headers.get('content-type')?.includes('json') === true && text !== '';
    return { status: answer.status, headers: answer.headers, body: json ? JSON.parse(text) : text };
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  /** States an engine, as static engines are. Returns its worker id. */
  register(role: Role, endpoint: string, more: Partial<Registration> = {}): string {
    const outcome = this.cluster.register({
      source: 'static',
      role,
      endpoint,
      zmqAddress: null,
      instance: null,
      group: null,
      connector: { kind: 'nixl', evidence: 'label' },
      transferMode: null,
      startedAtSecs: null,
      models: ['m'],
      ttlMs: null,
      ...more,
    });
    if (outcome.kind === 'quarantined') throw new Error('quarantined');
    return `${role}-${outcome.lifetime.generation}`;
  }

  /** Opens a request and places it; ends with `finish`. */
  begin(requestKey: number, shape: 'generation' | 'single' = 'generation'): GrantId {
    const { scheduler } = this.cluster;
    scheduler.openRequest({ requestKey, requestId: `r-${requestKey}`, route: '/v1/completions', model: 'm', stream: true });
    const placed = scheduler.reserve({ requestKey, model: 'm', shape, prefixKey, sessionKey: null, exclude: [], failedPairs: [] });
    if (placed.kind === 'unavailable') throw new Error('unavailable');
    return placed.grantId;
  }

  finish(requestKey: number, grantId: GrantId): void {
    const { scheduler } = this.cluster;
    scheduler.end(grantId, { phase: 'single', result: 'succeeded', status: 200, fault: null, timings: { prefillMs: null, handoffMs: null, firstByteMs: 5 } });
    scheduler.closeRequest(requestKey, { status: 200, outcome: 'ok', usage: { promptTokens: 10, completionTokens: 2 }, reportedCachedTokens: null });
  }
}

function linesTo(lines: string[]): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
}

const prefixKey: PrefixKey = { count: 2, lo: Uint32Array.of(1, 2), hi: Uint32Array.of(3, 4), ends: Float64Array.of(64, 100) };
