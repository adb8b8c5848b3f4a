import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type ControlRoutes } from '../control/control-routes.js';
import { type FaultBoard } from '../control/fault-board.js';
import { answerWithFault } from '../control/head-fault.js';
import { type Journal } from '../control/journal.js';
import { type RequestRecord, unixNowMs } from '../control/request-record.js';
import { ApiError, errorBody, schemaError } from '../openai/api-error.js';
import { type GenerationEndpoint } from '../openai/generation-endpoint.js';
import { type GenerationRoute } from '../openai/generation-plan.js';
import { Answer } from './answer.js';
import { Connections } from './connections.js';
import { parsePythonJson, readBody } from './request-body.js';

/** A small endpoint: its answer depends on the body only. Throws `ApiError`. */
export interface Page {
  readonly contentType: string;
  readonly status: number;
  readonly body: string;
}

export interface EngineServerParts {
  readonly apiKey: string | null;
  readonly idleTimeoutMs: number;
  readonly journal: Journal;
  readonly faults: FaultBoard;
  readonly control: ControlRoutes;
  readonly generation: GenerationEndpoint;
  /** GET pages; `null` for an unknown path, `hang` for one that never answers. */
  readonly getPage: (path: string) => Page | 'hang' | null;
  /** POST pages other than generation; `null` for an unknown path. */
  readonly postPage: (path: string, body: unknown) => Page | null;
  readonly postPaths: readonly string[];
  readonly crash: () => void;
}

const generationRoutes: Readonly<Record<string, GenerationRoute>> = { '/v1/chat/completions': 'chat', '/v1/completions': 'completions' };

function notFound(): ApiError {
  return new ApiError(404, 'Not Found', 'Not Found');
}

/** The engine's HTTP face. */
export class EngineServer {
  readonly server: Server;
  readonly #parts: EngineServerParts;
  readonly #connections = new Connections();

  constructor(parts: EngineServerParts) {
    this.#parts = parts;
    // Node's own keep-alive timeout waits a second longer than told; uvicorn does not, and clients must live with that.
    this.server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (req, res) => {
      req.socket.setTimeout(0);
      res.once('finish', () => req.socket.setTimeout(parts.idleTimeoutMs));
      void this.#handle(req, res);
    });
  }

  get connectionsOpened(): number {
    return this.#connections.opened;
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://engine');
    if (url.pathname.startsWith('/__sim/')) {
      await this.#parts.control.handle(req, res, url);
      return;
    }
    const record = this.#record(req, url.pathname);
    const answer = new Answer(res, record, (aborted) => this.#parts.journal.close(record, aborted));
    if (req.method === 'POST') this.#parts.journal.open(record);
    else this.#parts.journal.countRoute(record.route);
    if (this.#parts.apiKey !== null && url.pathname.startsWith('/v1') && req.headers.authorization !== `Bearer ${this.#parts.apiKey}`) {
      req.resume();
      answer.json(401, '{"error":"Unauthorized"}');
      return;
    }
    const route = generationRoutes[url.pathname];
    if (req.method === 'POST' && route !== undefined) {
      const body = await readBody(req);
      if (body !== null) await this.#parts.generation.handle(route, url.pathname, body, answer);
      return;
    }
    await this.#page(req, url.pathname, answer, route !== undefined);
  }

  async #page(req: IncomingMessage, path: string, answer: Answer, generation: boolean): Promise<void> {
    const body = await readBody(req);
    if (body === null) return;
    answer.record.bodyBytes = body.length;
    const faults = this.#parts.faults.take({ path, inference: false, phase: null, reused: answer.record.requestOnConnection > 1 });
    answer.record.faults = [...faults.keys()];
    if (answerWithFault(faults, answer, false, this.#parts.crash)) return;
    const reply = (): void => {
      try {
        const page = this.#findPage(req.method ?? '', path, body, generation);
        if (page !== 'hang') answer.send(page.status, page.contentType, page.body);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        answer.json(error.status, errorBody(error.status, error.type, error.message, error.param));
      }
    };
    const slow = faults.get('slow_first_byte');
    if (slow === undefined) reply();
    else setTimeout(reply, slow.ms);
  }

  #findPage(method: string, path: string, body: Buffer, generation: boolean): Page | 'hang' {
    const posts = generation || this.#parts.postPaths.includes(path);
    const page = method === 'GET' ? this.#parts.getPage(path) : null;
    if (page !== null) return page;
    if (method === 'POST' && posts) {
      let parsed: unknown;
      try {
        parsed = parsePythonJson(body.toString('utf8'));
      } catch {
        throw schemaError('', 'json_invalid', 'JSON decode error');
      }
      const posted = this.#parts.postPage(path, parsed);
      if (posted !== null) return posted;
    }
    if (posts || this.#parts.getPage(path) !== null) throw new ApiError(405, 'Method Not Allowed', 'Method Not Allowed');
    throw notFound();
  }

  #record(req: IncomingMessage, route: string): RequestRecord {
    const requestId = req.headers['x-request-id'];
    return {
      seq: this.#parts.journal.nextSeq(),
      requestId: typeof requestId === 'string' ? requestId : null,
      method: req.method ?? '',
      route,
      headers: req.headers,
      rawHeaders: req.rawHeaders,
      ...this.#connections.count(req.socket),
      receivedAtMs: unixNowMs(),
      phase: null,
      model: null,
      stream: false,
      bodyBytes: 0,
      bodySha256: null,
      bodyText: '',
      promptTokens: null,
      cachedTokens: null,
      handOff: 'none',
      faults: [],
      violation: null,
      status: null,
      responseBytes: 0,
      responseSha256: null,
      events: 0,
      finishReason: null,
      headAtMs: null,
      firstByteAtMs: null,
      endedAtMs: null,
      aborted: false,
    };
  }
}
