import { Agent, request } from 'undici';
import { z } from 'zod';

import { type AdminAccess } from './operator-arguments.js';

export interface AdminAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The admin API could not be asked, or refused; the message is meant for the operator. */
export class AdminRefusal extends Error {
  /** Code of the admin API's error; `null` when it gave none. */
  readonly code: string | null;
  readonly body: unknown;

  constructor(message: string, code: string | null = null, body: unknown = null) {
    super(message);
    this.code = code;
    this.body = body;
  }
}

/** What to do about a refusal, in the words of a command line; the API's own remedies speak of its bodies. */
const commandRemedies: Readonly<Record<string, string>> = {
  last_selectable_worker: 'bring another one up first, or repeat with --force',
  unknown_endpoint: 'see switchyard workers; to keep it out before it comes, give --until undrain and --role',
};

const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string(), remedy: z.string().optional() }) });

const answerSecs = 15;

export interface AdminCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** How long the router may hold the answer back beyond its usual time. */
  readonly waitSecs?: number;
}

/** Asks the admin API once; throws `AdminRefusal` unless the answer is 2xx JSON. */
export async function askAdmin({ origin, token }: AdminAccess, { method, path, body, waitSecs = 0 }: AdminCall): Promise<AdminAnswer> {
  // undici takes whole milliseconds only.
  const limitMs = Math.ceil((answerSecs + waitSecs) * 1000);
  const agent = new Agent({ connectTimeout: answerSecs * 1000, headersTimeout: limitMs, bodyTimeout: limitMs });
  try {
    const answer = await request(`${origin}${path}`, {
      method,
      dispatcher: agent,
      headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return readAnswer(answer.statusCode, await answer.body.text(), origin, token);
  } catch (error) {
    if (error instanceof AdminRefusal) throw error;
    throw new AdminRefusal(`cannot reach the admin API at ${origin}: ${reasonOf(error)}`);
  } finally {
    await agent.destroy();
  }
}

function readAnswer(status: number, text: string, origin: string, token: string | null): AdminAnswer {
  let body: unknown;
  try {
    body = text === '' ? null : JSON.parse(text);
  } catch {
    throw new AdminRefusal(`${origin} answered ${status} with something that is not JSON: is it the admin listener?`);
  }
  if (status >= 200 && status < 300) return { status, body };
  if (status === 401) {
    throw new AdminRefusal(token === null ? 'the admin API asks for a token: give --token or SWITCHYARD_TOKEN' : 'the admin API does not know this token', 'unauthorized', body);
  }
  const refused = errorSchema.safeParse(body);
  if (!refused.success) throw new AdminRefusal(`${origin} answered ${status}`, null, body);
  const { code, message } = refused.data.error;
  const remedy = commandRemedies[code] ?? refused.data.error.remedy;
  throw new AdminRefusal(`${message} (${code})${remedy === undefined ? '' : `; ${remedy}`}`, code, body);
}

function reasonOf(error: unknown): string {
  const cause = error instanceof AggregateError ? error.errors[0] as unknown : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
