import { randomUUID } from 'node:crypto';
import { createServer as createTcpServer } from 'node:net';
import { type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ControlRoutes } from './control/control-routes.js';
import { type Fault, FaultBoard } from './control/fault-board.js';
import { Journal } from './control/journal.js';
import { Pinger } from './discovery/pinger.js';
import { type RunEngine } from './generation/generation-run.js';
import { Pacer } from './generation/pacer.js';
import { PrefixCache } from './generation/prefix-cache.js';
import { RunQueue } from './generation/run-queue.js';
import { EngineServer, type Page } from './http/engine-server.js';
import { close, listen } from './http/listen.js';
import { createClaimServer } from './kv/claim-channel.js';
import { createConnector } from './kv/create-connector.js';
import { HandOffStore } from './kv/hand-off-store.js';
import { joinHostPort, type KvAddress, kvAddressText } from './kv/kv-address.js';
import { Legs } from './kv/legs.js';
import { modelNotFound } from './openai/api-error.js';
import { detokenizePage, modelCard, tokenizePage } from './openai/engine-pages.js';
import { GenerationEndpoint } from './openai/generation-endpoint.js';
import { type SimOptions } from './options.js';
import { EngineMetrics } from './telemetry/engine-metrics.js';

/** Where a started engine is reached. */
export interface EngineAddresses {
  readonly http: string;
  readonly zmq: string;
}

const json = (value: unknown): Page => ({ status: 200, contentType: 'application/json', body: JSON.stringify(value) });
const anyHosts: readonly string[] = ['0.0.0.0', '::'];

function endServer(server: Server): Promise<void> {
  const closed = close(server);
  server.closeAllConnections();
  return closed;
}

/** One simulated vLLM engine: HTTP face, KV side channel, pings. */
export class EngineSim {
  /** New in every process, as vLLM's engine id is. */
  readonly engineId = randomUUID();
  readonly #options: SimOptions;
  readonly #startedAtSecs = Math.round((Date.now() / 1000 - process.uptime()) * 1000) / 1000;
  readonly #metrics = new EngineMetrics();
  readonly #cache: PrefixCache;
  readonly #queue: RunQueue;
  readonly #store: HandOffStore;
  readonly #faults = new FaultBoard();
  readonly #journal: Journal;
  readonly #usedTokens = { value: 0 };
  readonly #crash: () => void;
  #kvServer: Server | null = null;
  #http: EngineServer | null = null;
  #pinger: Pinger | null = null;
  #models: readonly string[];
  #health: number | 'hang' = 200;
  #addresses: EngineAddresses = { http: '', zmq: '' };

  /** `crash` ends the process; tests in one process replace it. */
  constructor(options: SimOptions, crash: () => void) {
    this.#options = options;
    this.#crash = crash;
    this.#models = options.models;
    this.#cache = new PrefixCache(options.kvBlocks, options.blockSize);
    this.#queue = new RunQueue(options.maxNumSeqs);
    this.#journal = new Journal(options.recordLimit);
    this.#store = new HandOffStore(this.engineId, options.vllmVersion, options.kvLeaseMs, () => performance.now());
  }

  /** Pings begin before HTTP is up, as they do while a model is loading. */
  async start(): Promise<EngineAddresses> {
    const options = this.#options;
    this.#kvServer = createClaimServer(this.#store);
    const kvPort = await listen(this.#kvServer, options.kvAddress.host, options.kvAddress.port);
    const kvAddress: KvAddress = { ...options.kvAddress, port: kvPort };
    const zmq = kvAddressText(kvAddress);
    const http = this.#createServer(kvAddress, zmq);
    this.#http = http;
    const port = options.port === 0 && options.bootMs > 0 ? await this.#pickPort() : options.port;
    const early = options.bootMs > 0 ? port : await listen(http.server, options.host, port);
    const announcedHost = anyHosts.includes(options.host) ? '127.0.0.1' : options.host;
    this.#addresses = { http: joinHostPort(announcedHost, early), zmq };
    if (options.router !== null) {
      const httpAddress = options.announcedHttpAddress ?? this.#addresses.http;
      this.#pinger = new Pinger(options, { router: options.router, httpAddress, zmqAddress: zmq, startedAtSecs: this.#startedAtSecs });
      this.#pinger.start();
    }
    if (options.bootMs > 0) {
      await sleep(options.bootMs);
      await listen(http.server, options.host, early);
    }
    return this.#addresses;
  }

  /** Ends at once; open connections are cut. */
  async stop(): Promise<void> {
    this.#pinger?.close();
    await Promise.all([this.#http?.server ?? null, this.#kvServer].filter((server) => server !== null).map(endServer));
  }

  /** A free port: it has to be in pings before HTTP may listen. */
  async #pickPort(): Promise<number> {
    const server = createTcpServer();
    const port = await listen(server, this.#options.host, 0);
    await close(server);
    return port;
  }

  #createServer(kvAddress: KvAddress, zmq: string): EngineServer {
    const options = this.#options;
    const connector = createConnector(options.connector, { role: options.role, engineId: this.engineId, address: kvAddress, addressText: zmq });
    const engine: RunEngine = {
      speed: options,
      pacer: new Pacer(),
      queue: this.#queue,
      cache: this.#cache,
      metrics: this.#metrics,
      usedTokens: this.#usedTokens,
      crash: this.#crash,
    };
    const generation = new GenerationEndpoint({
      engine,
      connector,
      journal: this.#journal,
      faults: this.#faults,
      legs: new Legs(connector, this.#store, options),
      planLimits: () => ({ ...options, models: this.#models }),
      recordBodyBytes: options.recordBodyBytes,
    });
    const control = new ControlRoutes({
      journal: this.#journal,
      faults: this.#faults,
      state: () => this.#state(),
      resetCache: () => this.#cache.clear(),
      applyEngineFault: (fault) => this.#applyEngineFault(fault),
      clearEngineFaults: () => {
        this.#health = 200;
        this.#models = options.models;
        this.#pinger?.start();
      },
      crash: this.#crash,
    });
    return new EngineServer({
      apiKey: options.apiKey,
      idleTimeoutMs: options.idleTimeoutMs,
      journal: this.#journal,
      faults: this.#faults,
      control,
      generation,
      getPage: (path) => this.#getPage(path),
      postPage: (path, body) => this.#postPage(path, body),
      postPaths: ['/tokenize', '/detokenize'],
      crash: this.#crash,
    });
  }

  #getPage(path: string): Page | 'hang' | null {
    const createdSecs = Math.floor(this.#startedAtSecs);
    const { maxModelLen } = this.#options;
    switch (path) {
      case '/health':
        return this.#health === 'hang' ? 'hang' : { status: this.#health, contentType: '', body: '' };
      case '/version':
        return json({ version: this.#options.vllmVersion });
      case '/load':
        return json({ server_load: this.#queue.running + this.#queue.waiting });
      case '/metrics':
        return { status: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8', body: this.#renderMetrics() };
      case '/v1/models':
        return json({ object: 'list', data: this.#models.map((id) => modelCard(id, createdSecs, maxModelLen)) });
      default: {
        if (!path.startsWith('/v1/models/')) return null;
        const id = decodeURIComponent(path.slice('/v1/models/'.length));
        if (!this.#models.includes(id)) throw modelNotFound(id);
        return json(modelCard(id, createdSecs, maxModelLen));
      }
    }
  }

  #postPage(path: string, body: unknown): Page | null {
    if (path === '/tokenize') return { status: 200, contentType: 'application/json', body: tokenizePage(body, this.#options.maxModelLen) };
    if (path === '/detokenize') return { status: 200, contentType: 'application/json', body: detokenizePage(body) };
    return null;
  }

  #renderMetrics(): string {
    const usedBlocks = Math.ceil(this.#usedTokens.value / this.#options.blockSize) + this.#store.counts().blocks;
    return this.#metrics.render({
      model: this.#options.models[0] ?? '',
      running: this.#queue.running,
      waiting: this.#queue.waiting,
      kvUsage: Math.min(1, usedBlocks / this.#options.kvBlocks),
      prefixCacheQueries: this.#cache.queriedTokens,
      prefixCacheHits: this.#cache.hitTokens,
      startedAtSecs: this.#startedAtSecs,
    });
  }

  #applyEngineFault(fault: Fault): void {
    if (fault.kind === 'stop_ping') this.#pinger?.stop();
    else if (fault.kind === 'resume_ping') this.#pinger?.start();
    else if (fault.kind === 'health') this.#health = fault.hang ? 'hang' : fault.status;
    else if (fault.kind === 'models') this.#models = fault.ids;
    // Nothing in this process runs meanwhile, as under SIGSTOP.
    else if (fault.kind === 'pause') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fault.ms);
  }

  #state(): object {
    return {
      role: this.#options.role,
      connector: this.#options.connector,
      models: this.#models,
      engineId: this.engineId,
      version: this.#options.vllmVersion,
      startedAt: this.#startedAtSecs,
      pid: process.pid,
      httpAddress: this.#addresses.http,
      zmqAddress: this.#addresses.zmq,
      running: this.#queue.running,
      waiting: this.#queue.waiting,
      connectionsOpened: this.#http?.connectionsOpened ?? 0,
      cache: { blocks: this.#cache.size, capacity: this.#cache.capacity, queriedTokens: this.#cache.queriedTokens, hitTokens: this.#cache.hitTokens },
      kv: this.#store.counts(),
      pings: { pinging: this.#pinger?.pinging ?? false, sent: this.#pinger?.sent ?? 0 },
    };
  }
}
