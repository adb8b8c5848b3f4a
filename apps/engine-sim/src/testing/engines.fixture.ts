import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { type ViolationRecord } from '../control/journal.js';
import { type RequestRecord } from '../control/request-record.js';
import { EngineSim } from '../engine-sim.js';
import { parseOptions } from '../options.js';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Set when the connection broke before the end of the body. */
  readonly broken: string | null;
}

export interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
}

/** One HTTP call; rejects when no head comes. */
export function call(url: string, { method, headers, body, agent, signal }: Call = {}): Promise<Reply> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const req = request(
      url,
      {
        method: method ?? (text === undefined ? 'GET' : 'POST'),
        agent: agent ?? false,
        headers: { ...(agent === undefined ? { connection: 'keep-alive' } : {}), ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(signal === undefined ? {} : { signal }),
      },
      (res) => {
        const chunks: Buffer[] = [];
        const settle = (broken: string | null): void => {
          resolve({ status: res.statusCode ?? 0, headers: res.headers, text: Buffer.concat(chunks).toString('utf8'), broken });
          if (agent === undefined) req.destroy();
        };
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('end', () => settle(null));
        res.on('error', (error) => settle(error.message));
        // A torn connection is reported on the request as well, and first; the part that came still counts.
        req.off('error', reject).on('error', (error) => settle(error.message));
      },
    );
    req.on('error', reject);
    req.end(text);
  });
}

/** What of `/__sim/state` tests look at. */
export interface StateView {
  readonly engineId: string;
  readonly running: number;
  readonly waiting: number;
  readonly violations: readonly ViolationRecord[];
  readonly kv: Readonly<Record<'outstanding' | 'issued' | 'claimed' | 'expired', number>>;
  readonly cache: Readonly<Record<'blocks' | 'capacity', number>>;
  readonly pings: { readonly pinging: boolean; readonly sent: number };
}

/** A simulated engine in the test's own process. */
export interface TestEngine {
  readonly url: string;
  readonly zmq: string;
  readonly crashed: () => boolean;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  state(): Promise<StateView>;
  requests(): Promise<readonly RequestRecord[]>;
  fault(fault: object): Promise<void>;
}

/** Engines of one test file; `stop` ends those still running. */
export class TestEngines {
  readonly #running: EngineSim[] = [];

  async start(...flags: readonly string[]): Promise<TestEngine> {
    const options = parseOptions(['--port', '0', '--decode-ms-per-token', '0.2', ...flags]);
    if (options === 'help') throw new Error('asked for help');
    let crashed = false;
    const engine = new EngineSim(options, () => (crashed = true));
    this.#running.push(engine);
    const addresses = await engine.start();
    const url = `http://${addresses.http}`;
    const get = async (path: string): Promise<unknown> => JSON.parse((await call(url + path)).text);
    return {
      url,
      zmq: addresses.zmq,
      crashed: () => crashed,
      post: (path, body, headers) => call(url + path, { body, ...(headers === undefined ? {} : { headers }) }),
      state: async () => (await get('/__sim/state')) as StateView,
      requests: async () => ((await get('/__sim/requests')) as { readonly requests: readonly RequestRecord[] }).requests,
      fault: async (fault) => {
        const reply = await call(`${url}/__sim/fault`, { body: fault });
        if (reply.status !== 200) throw new Error(reply.text);
      },
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((engine) => engine.stop()));
  }
}

/** Polls until `probe` gives something other than null, false or undefined. */
export async function eventually<T>(probe: () => Promise<T> | T, deadlineMs = 5000): Promise<NonNullable<T>> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    const value = await probe();
    if (value !== null && value !== undefined && value !== false) return value;
    if (performance.now() > endMs) throw new Error('did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
