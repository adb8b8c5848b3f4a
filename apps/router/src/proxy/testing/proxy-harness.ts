import { connect, type Socket } from 'node:net';
import { type ConnectorKind, type PoolCounts } from '@switchyard/core';
import { ApiServer } from '../api-server.js';
import { type ListedModel } from '../fleet-view.js';
import { type ProxyOptions } from '../proxy-options.js';
import { type AbortPhase, type FinishedRequest, type ProxyTelemetry } from '../proxy-telemetry.js';
import { type EngineScript, ScriptedEngine } from './scripted-engine.js';
import { ScriptedScheduler } from './scripted-scheduler.js';

const defaults: ProxyOptions = {
  requestTimeoutMs: 30_000,
  connectTimeoutMs: 5000,
  firstByteTimeoutMs: 20_000,
  streamIdleTimeoutMs: 20_000,
  holdHeadMs: null,
  upstreamKeepaliveMs: 3000,
  maxBodyBytes: 1_048_576,
  uploadGraceMs: 30_000,
  retryMaxAttempts: 3,
  handoffMaxAgeMs: 20_000,
  gateWaitMs: 2000,
  clientApiKeys: [],
  engineApiKey: null,
  exposeRouteHeaders: false,
  pdPrefillToolChoice: 'none',
  version: '0.0.0-test',
};

/** What the data plane reported, in order. */
export class RecordedTelemetry implements ProxyTelemetry {
  readonly finished: FinishedRequest[] = [];
  readonly retries: string[] = [];
  readonly upstreamErrors: string[] = [];
  readonly aborts: AbortPhase[] = [];
  readonly phases: string[] = [];
  started = 0;
  firstBytes = 0;
  requestStarted(): void {
    this.started += 1;
  }
  requestFinished(request: FinishedRequest): void {
    this.finished.push(request);
  }
  firstByte(): void {
    this.firstBytes += 1;
  }
  phaseDuration(phase: string): void {
    this.phases.push(phase);
  }
  retry(reason: string): void {
    this.retries.push(reason);
  }
  upstreamError(kind: string): void {
    this.upstreamErrors.push(kind);
  }
  clientAbort(phase: AbortPhase): void {
    this.aborts.push(phase);
  }
}

/** A real API server with scripted engines and a scripted scheduler behind it. */
export class ProxyHarness {
  readonly scheduler = new ScriptedScheduler();
  readonly telemetry = new RecordedTelemetry();
  readonly logLines: string[] = [];
  readonly engines: ScriptedEngine[] = [];
  models: ListedModel[] = [];
  ready = true;
  readonly server: ApiServer;
  #url = '';
  #port = 0;

  private constructor(options: Partial<ProxyOptions>) {
    const counts: PoolCounts = { prefill: { selectable: 1, total: 1 }, decode: { selectable: 1, total: 1 }, regular: { selectable: 0, total: 0 }, group: null };
    this.server = new ApiServer({
      options: { ...defaults, ...options },
      port: this.scheduler,
      fleet: { readiness: () => ({ ready: this.ready, counts }), models: () => this.models },
      telemetry: this.telemetry,
      log: {
        isLevelEnabled: () => true,
        info: (fields, message) => this.logLines.push(JSON.stringify({ ...fields, message })),
        error: (fields, message) => this.logLines.push(JSON.stringify({ ...fields, message, err: String((fields as { err?: unknown }).err) })),
      },
    });
  }

  static async start(options: Partial<ProxyOptions> = {}): Promise<ProxyHarness> {
    const harness = new ProxyHarness(options);
    const { port } = await harness.server.listen('127.0.0.1', 0);
    harness.#port = port;
    harness.#url = `http://127.0.0.1:${String(port)}`;
    return harness;
  }

  get url(): string {
    return this.#url;
  }

  async engine(script: EngineScript): Promise<ScriptedEngine> {
    const engine = await ScriptedEngine.start(script);
    this.engines.push(engine);
    return engine;
  }

  async regular(script: EngineScript): Promise<ScriptedEngine> {
    const engine = await this.engine(script);
    this.scheduler.add('regular', engine.endpoint);
    return engine;
  }

  /** A NIXL pair unless `connector` says otherwise. */
  async pair(prefill: EngineScript, decode: EngineScript, connector: ConnectorKind = 'nixl'): Promise<{ prefill: ScriptedEngine; decode: ScriptedEngine }> {
    const pair = { prefill: await this.engine(prefill), decode: await this.engine(decode) };
    this.scheduler.add('prefill', pair.prefill.endpoint, { connector, zmqAddress: '10.0.0.1:21001' });
    this.scheduler.add('decode', pair.decode.endpoint, { connector, zmqAddress: '10.0.0.2:22001' });
    return pair;
  }

  post(path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return fetch(this.#url + path, { method: 'POST', body: text, headers: { 'content-type': 'application/json' }, ...init });
  }

  chat(more: object = {}, init: RequestInit = {}): Promise<Response> {
    return this.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'hello' }], ...more }, init);
  }

  /** A bare TCP connection that has sent `text`. */
  async raw(text: string): Promise<RawClient> {
    const socket = connect({ host: '127.0.0.1', port: this.#port, allowHalfOpen: true });
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    socket.write(text);
    return new RawClient(socket);
  }

  /** The text of a chat request for a raw connection. */
  chatText(more: object = {}, headers = ''): string {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }], ...more });
    return `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${String(Buffer.byteLength(body))}\r\n${headers}\r\n${body}`;
  }

  async stop(): Promise<void> {
    this.server.abortAll();
    await this.server.close();
    await Promise.all(this.engines.map((engine) => engine.stop()));
  }

  /** Stops everything and gives what the scheduler's books hold against the data plane; `[]` is as it should be. */
  async settle(): Promise<string[]> {
    await this.stop();
    const { faults, live, opened, closed } = this.scheduler;
    const lost = live.size === 0 ? [] : [`${String(live.size)} grants were never ended`];
    const left = opened.length === closed.length ? [] : [`${String(opened.length)} requests opened, ${String(closed.length)} closed`];
    return [...faults, ...lost, ...left];
  }
}

export class RawClient {
  received = '';
  closed = false;
  constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('end', () => {
      this.closed = true;
    });
    socket.on('close', () => {
      this.closed = true;
    });
  }
}

/** The `error` member of an error body. */
export function errorOf(body: string): Record<string, unknown> {
  return (JSON.parse(body) as { error: Record<string, unknown> }).error;
}

/** Polls until `condition` holds; fails with `what` after `withinMs`. */
export async function until(condition: () => boolean, what: string, withinMs = 3000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${String(withinMs)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
