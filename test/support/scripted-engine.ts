import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';

/** One call as it reached the engine. */
export interface EngineCall {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly headersDistinct: IncomingMessage['headersDistinct'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
  readonly bytes: Buffer;
  readonly atMs: number;
  /** Milliseconds after the call at which its connection closed before the answer was complete; `null` = it did not. */
  abortedAfterMs: number | null;
}

export type CallHandler = (call: EngineCall, res: ServerResponse, socket: Socket) => void | Promise<void>;

export interface ScriptedEngineOptions {
  readonly models?: readonly string[];
  readonly version?: string;
  readonly startedAtSecs?: number;
  readonly host?: string;
  readonly port?: number;
  /** Answers OpenAI calls. */
  readonly handle?: CallHandler;
}

/** An HTTP engine whose every answer a test decides, down to the socket. */
export class ScriptedEngine {
  readonly calls: EngineCall[] = [];
  readonly sockets = new Set<Socket>();
  handle: CallHandler;
  models: readonly string[];
  version: string;
  startedAtSecs: number | null;
  healthStatus = 200;
  /** Lines of its metrics beside the start time. */
  gauges = '';
  readonly #server: Server;

  private constructor(options: ScriptedEngineOptions) {
    this.handle = options.handle ?? ((_call, res) => answerJson(res, completion('hello')));
    this.models = options.models ?? ['m'];
    this.version = options.version ?? '0.11.0';
    this.startedAtSecs = options.startedAtSecs ?? 1_700_000_000;
    this.#server = createServer((req, res) => this.#take(req, res));
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => undefined);
    });
  }

  static async start(options: ScriptedEngineOptions = {}): Promise<ScriptedEngine> {
    const engine = new ScriptedEngine(options);
    await new Promise<void>((resolve, reject) => {
      engine.#server.once('error', reject);
      engine.#server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
    });
    return engine;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** `127.0.0.1:PORT`, as engines register it. */
  get address(): string {
    return `127.0.0.1:${String(this.port)}`;
  }

  get url(): string {
    return `http://${this.address}`;
  }

  /** Calls to inference paths, probes left out. */
  inference(path?: string): EngineCall[] {
    return this.calls.filter((call) => (path === undefined ? call.path.startsWith('/v1/') && call.path !== '/v1/models' : call.path === path));
  }

  /** From here on connecting is refused; what is connected is cut. */
  async refuse(): Promise<number> {
    const { port } = this;
    await this.stop();
    return port;
  }

  /** Listens again where it did before `refuse`. */
  async listenAgain(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(port, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(req: IncomingMessage, res: ServerResponse): void {
    const path = req.url ?? '';
    if (path === '/health') return void res.writeHead(this.healthStatus).end();
    if (path === '/version') {
      answerJson(res, { version: this.version });
      return;
    }
    if (path === '/v1/models') {
      answerJson(res, { object: 'list', data: this.models.map((id) => ({ id, object: 'model', max_model_len: 8192 })) });
      return;
    }
    if (path === '/metrics') {
      return void res.writeHead(200).end((this.startedAtSecs === null ? '' : `process_start_time_seconds ${String(this.startedAtSecs)}\n`) + this.gauges);
    }
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const call: EngineCall = {
        path,
        headers: req.headers,
        headersDistinct: req.headersDistinct,
        rawHeaders: req.rawHeaders,
        body: bytes.toString('utf8'),
        bytes,
        atMs: performance.now(),
        abortedAfterMs: null,
      };
      this.calls.push(call);
      res.on('close', () => {
        if (!res.writableFinished) call.abortedAfterMs = performance.now() - call.atMs;
      });
      void Promise.resolve(this.handle(call, res, req.socket)).catch((error: unknown) => res.destroy(error as Error));
    });
    req.on('error', () => undefined);
  }
}

export function answerJson(res: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers }).end(text);
}

export function completion(text: string, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'cmpl-1',
    object: 'text_completion',
    model: 'm',
    choices: [{ index: 0, text, finish_reason: 'length', logprobs: null }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    ...extra,
  };
}

export function startEvents(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  res.flushHeaders();
}

export function event(text: string): string {
  return `data: ${JSON.stringify({ id: 'cmpl-1', object: 'text_completion', model: 'm', choices: [{ index: 0, text, finish_reason: null }] })}\n\n`;
}

/** Whether a prefill leg: the router asks for one token and a hand-off. */
export function isPrefillLeg(call: EngineCall): boolean {
  return (JSON.parse(call.body) as { max_tokens?: number; stream?: boolean; kv_transfer_params?: { do_remote_decode?: boolean } }).kv_transfer_params?.do_remote_decode === true;
}
