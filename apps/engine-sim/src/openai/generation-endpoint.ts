import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type FaultBoard } from '../control/fault-board.js';
import { answerWithFault } from '../control/head-fault.js';
import { type Journal } from '../control/journal.js';
import { GenerationRun, type RunEngine } from '../generation/generation-run.js';
import { type Answer } from '../http/answer.js';
import { parsePythonJson } from '../http/request-body.js';
import { type KvConnector } from '../kv/kv-connector.js';
import { type Legs } from '../kv/legs.js';
import { Violation } from '../kv/violation.js';
import { ApiError, errorBody, schemaError } from './api-error.js';
import { isObject } from './fields.js';
import { type GenerationRoute, type PlanLimits, planGeneration } from './generation-plan.js';

export interface GenerationEndpointParts {
  readonly engine: RunEngine;
  readonly journal: Journal;
  readonly faults: FaultBoard;
  readonly connector: KvConnector;
  readonly legs: Legs;
  readonly planLimits: () => PlanLimits;
  readonly recordBodyBytes: number;
}

function parseBody(contentType: string | undefined, text: string): unknown {
  const mediaType = contentType?.toLowerCase().split(';')[0]?.trim();
  if (mediaType !== 'application/json') throw new ApiError(400, 'Bad Request', "['Unsupported Media Type: Only \\'application/json\\' is allowed']");
  try {
    return parsePythonJson(text);
  } catch (error) {
    throw schemaError(error instanceof Error ? error.message.replaceAll("'", '') : '', 'json_invalid', 'JSON decode error');
  }
}

/** Answers chat and text completions. */
export class GenerationEndpoint {
  readonly #parts: GenerationEndpointParts;

  constructor(parts: GenerationEndpointParts) {
    this.#parts = parts;
  }

  /** Answers one call whose body has come; every failure becomes an answer. */
  async handle(route: GenerationRoute, path: string, body: Buffer, answer: Answer): Promise<void> {
    const { record } = answer;
    record.bodyBytes = body.length;
    record.bodySha256 = createHash('sha256').update(body).digest('hex');
    record.bodyText = body.toString('utf8', 0, this.#parts.recordBodyBytes);
    try {
      await this.#serve(route, path, body.toString('utf8'), answer);
    } catch (error) {
      if (error instanceof ApiError) {
        answer.json(error.status, errorBody(error.status, error.type, error.message, error.param));
      } else if (error instanceof Violation) {
        this.#parts.journal.violation(record, record.phase ?? 'single', error.code, error.message);
        process.stderr.write(`VIOLATION ${error.code}: ${error.message}\n`);
        answer.json(500, errorBody(500, 'InternalServerError', `${error.code}: ${error.message}`));
      } else {
        process.stderr.write(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
        answer.json(500, errorBody(500, 'InternalServerError', String(error)));
      }
    }
  }

  async #serve(route: GenerationRoute, path: string, text: string, answer: Answer): Promise<void> {
    const { connector, faults: board, journal, legs, planLimits, engine } = this.#parts;
    const { record } = answer;
    const body = parseBody(record.headers['content-type'], text);
    const members = isObject(body) ? body : {};
    const params = isObject(members['kv_transfer_params']) ? members['kv_transfer_params'] : null;
    const phase = connector.phaseOf(params);
    const stream = members['stream'] === true;
    record.phase = phase;
    record.stream = stream;
    journal.countPhase(phase);
    const faults = board.take({ path, inference: true, phase, reused: record.requestOnConnection > 1 });
    record.faults = [...faults.keys()];
    if (answerWithFault(faults, answer, stream, engine.crash)) return;
    const plan = planGeneration(route, body, planLimits());
    record.model = plan.model;
    const id = `${route === 'chat' ? 'chatcmpl' : 'cmpl'}-${record.requestId ?? randomUUID().replaceAll('-', '')}`;
    const call = { requestId: record.requestId, internalId: `${id}-0-${randomBytes(4).toString('hex')}`, params, bodyText: text };
    const leg = await legs.check(phase, call, members, { hash: plan.promptHash, tokens: plan.promptTokens });
    if (leg.kind === 'pulled') record.handOff = 'claimed';
    if (answer.over) {
      if (leg.kind === 'producer') leg.ticket.abandon();
      return;
    }
    new GenerationRun(engine, { plan, head: { id, createdSecs: Math.floor(Date.now() / 1000) }, leg, answer, faults }).start();
  }
}
