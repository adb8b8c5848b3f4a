import { Agent, type Dispatcher, request } from 'undici';
import { type EngineLoadReading } from '@switchyard/core';
import { type EngineMetrics, EngineMetricsScanner } from './engine-metrics-scanner.js';

/** What a round asks for beside health. `load` costs reading most of the engine's metrics. */
export type EngineFact = 'version' | 'models' | 'startedAt' | 'load';

/** An entry of an engine's `/v1/models`, as it gave it. */
export type ModelEntry = Readonly<Record<string, unknown>> & { readonly id: string };

export interface ProbeResult {
  /** `ok` = a 2xx head; `failed` = any other answer or transport fault. */
  readonly health: 'ok' | 'failed' | 'timeout' | 'refused';
  readonly status: number | null;
  /** `null` = not learnt, this time. */
  readonly version: string | null;
  /** As the engine lists them, without repeats; an empty list counts as not learnt. */
  readonly models: readonly ModelEntry[] | null;
  /** Unix seconds. */
  readonly startedAtSecs: number | null;
  readonly load: EngineLoadReading | null;
  /** Every attempt that was asked for has ended by itself; `false` when the probe was called off. */
  readonly finishedAll: boolean;
}

export interface HealthProberOptions {
  /** Path that tells health, e.g. `/health`. */
  readonly healthPath: string;
  readonly healthTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly engineApiKey: string | null;
}

/** A fact is one try of this long at most, so that a gated worker never waits for more. */
const factTimeoutMs = 500;
const versionBytes = 64 * 1024;
const modelsBytes = 1024 * 1024;
/** vLLM's histograms grow with labels, and the process metrics may come last. */
const metricsBytes = 4 * 1024 * 1024;
const longestVersion = 128;
/** Versions are shown in terminals and in the text of errors. */
const visible = /^[\x21-\x7e]+$/;
const longestModelId = 512;
const mostModels = 4096;

/** Asks engines how they are. Pure I/O: when to ask, and what an answer means, is decided elsewhere. */
export class HealthProber {
  readonly #options: HealthProberOptions;
  readonly #agent: Agent;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: HealthProberOptions) {
    this.#options = options;
    this.#agent = new Agent({
      connections: 4,
      pipelining: 1,
      // uvicorn closes idle connections after 5 s; leaving earlier avoids the race.
      keepAliveTimeout: 3_000,
      keepAliveMaxTimeout: 3_000,
      connect: { timeout: options.connectTimeoutMs },
    });
    this.#headers = options.engineApiKey === null ? {} : { authorization: `Bearer ${options.engineApiKey}` };
  }

  /** One round: the health endpoint, and in parallel one attempt at each fact. Never rejects. */
  async probe(endpoint: string, { what, signal }: { readonly what: readonly EngineFact[]; readonly signal?: AbortSignal }): Promise<ProbeResult> {
    const wants = (fact: EngineFact) => what.includes(fact);
    const never = new AbortController().signal;
    const off = signal ?? never;
    const [health, version, models, metrics] = await Promise.all([
      this.#health(endpoint, off),
      wants('version') ? this.#fact(endpoint, '/version', off, readVersion) : null,
      wants('models') ? this.#fact(endpoint, '/v1/models', off, readModels) : null,
      wants('startedAt') || wants('load') ? this.metrics(endpoint, wants('load'), off) : noMetrics,
    ]);
    return { ...health, version, models, ...metrics, finishedAll: !off.aborted };
  }

  /** What the engine's metrics tell, within half a second. Never rejects. */
  async metrics(endpoint: string, wantsLoad: boolean, off: AbortSignal): Promise<EngineMetrics> {
    return (await this.#fact(endpoint, '/metrics', off, (body) => readMetrics(body, wantsLoad))) ?? noMetrics;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #health(endpoint: string, off: AbortSignal): Promise<Pick<ProbeResult, 'health' | 'status'>> {
    const within = AbortSignal.any([off, AbortSignal.timeout(this.#options.healthTimeoutMs)]);
    const ask = () => this.#get(endpoint, this.#options.healthPath, within);
    try {
      // An idle connection that the engine closes as it is reused says nothing about the engine: once more, afresh.
      const { statusCode, body } = await ask().catch((error: unknown) => (isReset(error) ? ask() : Promise.reject(error as Error)));
      body.dump().catch(() => undefined);
      return { health: statusCode >= 200 && statusCode < 300 ? 'ok' : 'failed', status: statusCode };
    } catch (error) {
      return { health: faultOf(error), status: null };
    }
  }

  async #fact<T>(endpoint: string, path: string, off: AbortSignal, read: (body: Body) => Promise<T | null>): Promise<T | null> {
    try {
      const { statusCode, body } = await this.#get(endpoint, path, AbortSignal.any([off, AbortSignal.timeout(factTimeoutMs)]));
      if (statusCode === 200) return await read(body);
      body.dump().catch(() => undefined);
      return null;
    } catch {
      return null;
    }
  }

  #get(endpoint: string, path: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    return request(`${endpoint}${path}`, { dispatcher: this.#agent, headers: this.#headers, signal });
  }
}

type Body = Dispatcher.ResponseData['body'];

async function readVersion(body: Body): Promise<string | null> {
  const answer = await readJson(body, versionBytes);
  const version = memberOf(answer, 'version');
  return typeof version === 'string' && version.length <= longestVersion && visible.test(version) ? version : null;
}

async function readModels(body: Body): Promise<readonly ModelEntry[] | null> {
  const list = memberOf(await readJson(body, modelsBytes), 'data');
  if (!Array.isArray(list)) return null;
  const byId = new Map<string, ModelEntry>();
  for (const item of list.slice(0, mostModels)) {
    const id = memberOf(item, 'id');
    if (typeof id === 'string' && id !== '' && id.length <= longestModelId) byId.set(id, item as ModelEntry);
  }
  return byId.size > 0 ? [...byId.values()] : null;
}

const noMetrics: EngineMetrics = { startedAtSecs: null, load: null };

async function readMetrics(body: Body, wantsLoad: boolean): Promise<EngineMetrics> {
  const scanner = new EngineMetricsScanner(wantsLoad);
  let read = 0;
  // Leaving the loop destroys the body, and with it the connection: cheaper than the rest of a long exposition.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    if (scanner.push(chunk)) break;
    read += chunk.length;
    if (read > metricsBytes) return noMetrics;
  }
  return scanner.end();
}

async function readJson(body: Body, maxBytes: number): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let read = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    read += chunk.length;
    if (read > maxBytes) return null;
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function codeOf(error: unknown): unknown {
  return memberOf(error, 'code');
}

function isReset(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET';
}

function faultOf(error: unknown): ProbeResult['health'] {
  if (codeOf(error) === 'ECONNREFUSED') return 'refused';
  const timeouts: readonly unknown[] = ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'ETIMEDOUT'];
  const timedOut = timeouts.includes(codeOf(error)) || memberOf(error, 'name') === 'TimeoutError';
  return timedOut ? 'timeout' : 'failed';
}
