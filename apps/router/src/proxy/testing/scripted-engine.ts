import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';

export interface EngineRequestRecord {
  readonly method: string;
  readonly url: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly rawHeaders: readonly string[];
  readonly body: string;
  readonly bytes: Buffer;
}

export type EngineScript = (request: EngineRequestRecord, res: ServerResponse, req: IncomingMessage) => unknown;

/** A real HTTP server on loopback that answers as a test wants and remembers what it was asked. */
export class ScriptedEngine {
  readonly requests: EngineRequestRecord[] = [];
  /** Connections that are open now. */
  readonly sockets = new Set<Socket>();
  connections = 0;
  /** Requests whose connection closed before their answer was complete. */
  aborted = 0;
  script: EngineScript;
  readonly #server: Server;

  private constructor(script: EngineScript) {
    this.script = script;
    this.#server = createServer((req, res) => this.#take(req, res));
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket)).on('error', () => undefined);
    });
  }

  static async start(script: EngineScript): Promise<ScriptedEngine> {
    const engine = new ScriptedEngine(script);
    await new Promise<void>((resolve) => engine.#server.listen(0, '127.0.0.1', resolve));
    return engine;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #take(req: IncomingMessage, res: ServerResponse): void {
    const chunks: Buffer[] = [];
    res.on('close', () => {
      if (!res.writableFinished) this.aborted += 1;
    });
    req.on('error', () => undefined);
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const record = { method: req.method ?? '', url: req.url ?? '', headers: req.headers, rawHeaders: req.rawHeaders, body: bytes.toString(), bytes };
      this.requests.push(record);
      void this.script(record, res, req);
    });
  }
}

export const answer = (status: number, body: string, headers: Record<string, string | string[]> = {}): EngineScript => (_request, res) => {
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers });
  res.end(body);
};

export const prefillAnswer = '{"id":"p","choices":[{"index":0,"finish_reason":"length"}],"kv_transfer_params":{"do_remote_prefill":true,"remote_engine_id":"e1","remote_block_ids":[18446744073709551615]}}';

/** Sends head and events at once and ends. */
export const events = (...parts: string[]): EngineScript => (_request, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const part of parts) res.write(part);
  res.end();
};
