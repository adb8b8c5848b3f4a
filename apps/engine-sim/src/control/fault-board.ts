import { type Phase } from '../kv/kv-connector.js';

/** Faults that wait for a matching request. */
export const requestFaultKinds = [
  'hang',
  'hang_after_headers',
  'status',
  'reset',
  'reset_after_bytes',
  'fin_mid_stream',
  'end_mid_stream',
  'error_event_first',
  'error_event_mid_stream',
  'invalid_body',
  'slow',
  'slow_first_byte',
  'empty_params',
  'crash',
] as const;
export type RequestFaultKind = (typeof requestFaultKinds)[number];

/** Faults that hold for the whole engine from now on. */
export const engineFaultKinds = ['stop_ping', 'resume_ping', 'pause', 'health', 'models'] as const;
export type EngineFaultKind = (typeof engineFaultKinds)[number];

export interface Fault {
  readonly kind: RequestFaultKind | EngineFaultKind;
  /** Only this path. Without it: inference calls only, so that probes go on being answered. */
  readonly path: string | null;
  readonly phase: Phase | null;
  /** Only requests that are not the first on their connection (true), or only those that are (false). */
  readonly reused: boolean | null;
  /** How many matching requests it hits; `null` for all. */
  readonly times: number | null;
  readonly status: number;
  readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Stream events sent before a fault strikes; `null` leaves it to the kind. */
  readonly events: number | null;
  readonly factor: number;
  readonly ms: number;
  readonly ids: readonly string[];
  readonly hang: boolean;
}

export class FaultSyntaxError extends Error {}

function member<T>(body: Readonly<Record<string, unknown>>, key: string, isIt: (value: unknown) => value is T, fallback: T, what: string): T {
  const value = body[key];
  if (value === undefined || value === null) return fallback;
  if (!isIt(value)) throw new FaultSyntaxError(`${key} must be ${what}`);
  return value;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isTextList = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
const isPhase = (value: unknown): value is Phase => value === 'prefill' || value === 'decode' || value === 'single';
const isTextMap = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null && Object.values(value).every(isText);
const orNull =
  <T>(isIt: (value: unknown) => value is T) =>
  (value: unknown): value is T | null =>
    value === null || isIt(value);

const knownMembers = ['kind', 'path', 'phase', 'reused', 'times', 'status', 'body', 'headers', 'events', 'factor', 'ms', 'ids'];

/** Reads the body of `POST /__sim/fault`; throws `FaultSyntaxError`. */
export function parseFault(value: unknown): Fault {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new FaultSyntaxError('a fault is a JSON object');
  const body = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(body).find((key) => !knownMembers.includes(key));
  if (unknown !== undefined) throw new FaultSyntaxError(`unknown member ${unknown}; known: ${knownMembers.join(', ')}`);
  const kinds: readonly string[] = [...requestFaultKinds, ...engineFaultKinds];
  const kind = body['kind'];
  if (!isText(kind) || !kinds.includes(kind)) throw new FaultSyntaxError(`kind must be one of ${kinds.join(', ')}`);
  const hang = body['status'] === 'hang';
  return {
    kind: kind as Fault['kind'],
    path: member(body, 'path', orNull(isText), null, 'a path'),
    phase: member(body, 'phase', orNull(isPhase), null, 'prefill, decode or single'),
    reused: member(body, 'reused', orNull(isFlag), null, 'a boolean'),
    times: member(body, 'times', orNull(isCount), null, 'a number'),
    status: hang ? 0 : member(body, 'status', isCount, 500, 'a status or "hang"'),
    body: isText(body['body']) || body['body'] === undefined ? (body['body'] ?? null) : JSON.stringify(body['body']),
    headers: member(body, 'headers', isTextMap, {}, 'an object of strings'),
    events: member(body, 'events', orNull(isCount), null, 'a number'),
    factor: member(body, 'factor', isCount, 10, 'a number'),
    ms: member(body, 'ms', isCount, 1000, 'milliseconds'),
    ids: member(body, 'ids', isTextList, [], 'a list of strings'),
    hang,
  };
}

export interface FaultContext {
  readonly path: string;
  readonly inference: boolean;
  readonly phase: Phase | null;
  readonly reused: boolean;
}

export type RequestFaults = ReadonlyMap<RequestFaultKind, Fault>;

export const noFaults: RequestFaults = new Map();

interface Armed {
  readonly fault: Fault;
  left: number;
}

function matches(fault: Fault, context: FaultContext): boolean {
  return (
    (fault.path === null ? context.inference : fault.path === context.path) &&
    (fault.phase === null || fault.phase === context.phase) &&
    (fault.reused === null || fault.reused === context.reused)
  );
}

/** The faults waiting for requests. */
export class FaultBoard {
  #armed: Armed[] = [];

  get faults(): readonly (Fault & { readonly left: number | null })[] {
    return this.#armed.map(({ fault, left }) => ({ ...fault, left: left === Infinity ? null : left }));
  }

  arm(fault: Fault): void {
    this.#armed.push({ fault, left: fault.times ?? Infinity });
  }

  clear(): void {
    this.#armed = [];
  }

  /** The faults that hit this request: the oldest of each kind, each used up by one. */
  take(context: FaultContext): RequestFaults {
    if (this.#armed.length === 0) return noFaults;
    const taken = new Map<RequestFaultKind, Fault>();
    for (const armed of this.#armed) {
      const kind = armed.fault.kind as RequestFaultKind;
      if (taken.has(kind) || armed.left < 1 || !matches(armed.fault, context)) continue;
      armed.left -= 1;
      taken.set(kind, armed.fault);
    }
    this.#armed = this.#armed.filter((armed) => armed.left >= 1);
    return taken;
  }
}
