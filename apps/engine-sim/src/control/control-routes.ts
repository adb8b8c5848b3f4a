import { type IncomingMessage, type ServerResponse } from 'node:http';
import { readBody } from '../http/request-body.js';
import { type Fault, type FaultBoard, FaultSyntaxError, parseFault } from './fault-board.js';
import { type Journal } from './journal.js';

export interface ControlParts {
  readonly journal: Journal;
  readonly faults: FaultBoard;
  readonly state: () => object;
  readonly resetCache: () => void;
  /** Faults that hold for the whole engine; called after the answer has left. */
  readonly applyEngineFault: (fault: Fault) => void;
  readonly clearEngineFaults: () => void;
  readonly crash: () => void;
}

const defaultRecords = 1000;

function answer(res: ServerResponse, status: number, value: unknown, after?: () => void): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(value), after);
}

/** The control API under `/__sim/`, which no fault touches. */
export class ControlRoutes {
  readonly #parts: ControlParts;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  async handle(req: IncomingMessage, res: ServerResponse, url: URL): Promise<void> {
    const { journal, faults } = this.#parts;
    switch (`${req.method ?? ''} ${url.pathname}`) {
      case 'GET /__sim/state':
        answer(res, 200, { ...this.#parts.state(), ...journal.summary(), faults: faults.faults });
        return;
      case 'GET /__sim/requests': {
        const query = url.searchParams;
        const records = journal.find({
          requestId: query.get('request_id'),
          phase: query.get('phase'),
          route: query.get('route'),
          sinceSeq: Number(query.get('since_seq') ?? 0),
          limit: Number(query.get('limit') ?? defaultRecords),
        });
        answer(res, 200, { requests: records });
        return;
      }
      case 'POST /__sim/fault':
        await this.#arm(req, res);
        return;
      case 'DELETE /__sim/fault':
        faults.clear();
        this.#parts.clearEngineFaults();
        answer(res, 200, { faults: [] });
        return;
      case 'POST /__sim/reset-cache':
        this.#parts.resetCache();
        answer(res, 200, {});
        return;
      default:
        answer(res, 404, { error: `no control route ${req.method ?? ''} ${url.pathname}` });
    }
  }

  async #arm(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await readBody(req);
    if (body === null) return;
    let fault: Fault;
    try {
      fault = parseFault(JSON.parse(body.toString('utf8')));
    } catch (error) {
      if (!(error instanceof FaultSyntaxError) && !(error instanceof SyntaxError)) throw error;
      answer(res, 400, { error: error.message });
      return;
    }
    const armed = { fault };
    switch (fault.kind) {
      case 'stop_ping':
      case 'resume_ping':
      case 'health':
      case 'models':
        this.#parts.applyEngineFault(fault);
        answer(res, 200, armed);
        return;
      case 'pause':
        answer(res, 200, armed, () => this.#parts.applyEngineFault(fault));
        return;
      case 'crash':
        // Without a filter it does not wait for a request.
        if (fault.path === null && fault.phase === null && fault.reused === null && fault.events === null) {
          answer(res, 200, armed, () => this.#parts.crash());
          return;
        }
        break;
      default:
    }
    this.#parts.faults.arm(fault);
    answer(res, 200, armed);
  }
}
