import { type TransportFault } from '@switchyard/core';
import { type Dispatcher } from 'undici';
import { type CallFault, callFault } from './call-fault.js';
import { type CoarseWheel, WheelEntry } from './coarse-wheel.js';
import { type EngineConnection } from './engine-connection.js';
import { type EnginePools } from './engine-pools.js';

/** Receives an engine's answer. After `end`, `fault` or the caller's `abort` nothing more is called. */
export interface AnswerSink {
  head(status: number, statusText: string, rawHeaders: readonly Buffer[]): void;
  /** Returns whether the sink takes more; `false` pauses the engine until `resume`. */
  chunk(bytes: Buffer): boolean;
  end(): void;
  fault(fault: CallFault): void;
}

export interface EngineRequest {
  readonly endpoint: string;
  readonly path: string;
  /** Flat names and values. */
  readonly headers: string[];
  /** In order; together the body. */
  readonly body: readonly Uint8Array[];
}

export interface CallLimits {
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** End of the request's whole time, on the wheel's clock. */
  readonly totalDeadlineMs: number;
}

export interface CallRules {
  readonly limits: CallLimits;
  /** Asked synchronously right before the request is written: whether it still may be. */
  readonly mayWrite: () => boolean;
  /** Whether a stale connection is answered by one repeat on a fresh one. */
  readonly repeatStale: boolean;
}

/** Bodies beyond this go out as pieces, since one copy an engine call is what memory under load consists of. */
const joinUpToBytes = 65_536;

/**
 * One HTTP call to an engine. It owns its deadlines: the first body byte, the pause between two, the request's end.
 * Aborting closes the connection, at once or as soon as it exists.
 */
export class EngineCall extends WheelEntry implements Dispatcher.DispatchHandler {
  readonly #pools: EnginePools;
  readonly #wheel: CoarseWheel;
  readonly #request: EngineRequest;
  readonly #rules: CallRules;
  readonly #sink: AnswerSink;
  readonly #onStale: () => void;
  #connection: EngineConnection | null = null;
  #resume: (() => void) | null = null;
  #open = true;
  #written = false;
  #reused = false;
  #answered = false;
  #bodyBegun = false;
  #paused = false;
  #repeated = false;

  constructor(pools: EnginePools, wheel: CoarseWheel, request: EngineRequest, rules: CallRules, sink: AnswerSink, onStale: () => void) {
    super();
    this.#pools = pools;
    this.#wheel = wheel;
    this.#request = request;
    this.#rules = rules;
    this.#sink = sink;
    this.#onStale = onStale;
  }

  start(): void {
    // Connecting has its own limit, which the connection keeps.
    this.deadlineMs = this.#rules.limits.totalDeadlineMs;
    this.#wheel.start(this);
    this.#dispatch(this.#pools.acquire(this.#request.endpoint));
  }

  /** Ends the call from this side; the sink hears nothing more. */
  abort(): void {
    if (this.#close()) this.#discardConnection();
  }

  /** Lets a paused engine go on. */
  resume(): void {
    if (!this.#paused || !this.#open) return;
    this.#paused = false;
    const { idleTimeoutMs, totalDeadlineMs } = this.#rules.limits;
    this.deadlineMs = Math.min(this.#wheel.coarseNowMs + idleTimeoutMs, totalDeadlineMs);
    this.#wheel.start(this);
    this.#resume?.();
  }

  onConnect(abort: () => void): void {
    if (!this.#open) {
      abort();
      return;
    }
    if (!this.#rules.mayWrite()) {
      this.#fail({ fault: 'revoked', delivered: this.#written, stale: false });
      abort();
      return;
    }
    this.#written = true;
    this.#reused = this.#connection?.countRequest() ?? false;
    const { firstByteTimeoutMs, totalDeadlineMs } = this.#rules.limits;
    this.deadlineMs = Math.min(this.#wheel.coarseNowMs + firstByteTimeoutMs, totalDeadlineMs);
    this.#wheel.start(this);
  }

  onResponseStarted(): void {
    this.#answered = true;
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void, statusText: string): boolean {
    if (status < 200 || !this.#open) return true;
    this.#resume = resume;
    this.#sink.head(status, statusText, rawHeaders);
    return true;
  }

  onData(bytes: Buffer): boolean {
    if (!this.#open) return true;
    const { idleTimeoutMs, totalDeadlineMs } = this.#rules.limits;
    const deadlineMs = Math.min(this.#wheel.coarseNowMs + idleTimeoutMs, totalDeadlineMs);
    const earlier = !this.#bodyBegun && deadlineMs < this.deadlineMs;
    this.deadlineMs = deadlineMs;
    this.#bodyBegun = true;
    if (earlier) this.#wheel.start(this);
    if (this.#sink.chunk(bytes)) return true;
    if (!this.#stillOpen()) return true;
    // A client that reads slowly is not the engine's fault: only the request's own end counts meanwhile.
    this.#paused = true;
    this.deadlineMs = totalDeadlineMs;
    return false;
  }

  onComplete(): void {
    if (!this.#close()) return;
    if (this.#connection !== null) this.#pools.release(this.#connection);
    this.#sink.end();
  }

  onError(error: Error): void {
    if (!this.#open) return;
    const fault = callFault(error, { written: this.#written, reused: this.#reused, answered: this.#answered });
    if (fault.stale) {
      this.#onStale();
      this.#pools.discardIdle(this.#request.endpoint);
      if (this.#rules.repeatStale && !this.#repeated) {
        this.#repeat();
        return;
      }
    }
    this.#fail(fault);
  }

  onDeadline(): void {
    const total = this.deadlineMs >= this.#rules.limits.totalDeadlineMs;
    const fault: TransportFault = total ? 'total_timeout' : this.#bodyBegun ? 'idle_timeout' : 'first_byte_timeout';
    this.#fail({ fault, delivered: this.#written, stale: false });
  }

  #repeat(): void {
    this.#repeated = true;
    this.#discardConnection();
    this.#reused = false;
    this.#dispatch(this.#pools.acquireFresh(this.#request.endpoint));
  }

  #dispatch(connection: EngineConnection): void {
    this.#connection = connection;
    connection.dispatch(this.#dispatchOptions(), this);
  }

  #fail(fault: CallFault): void {
    if (!this.#close()) return;
    this.#discardConnection();
    this.#sink.fault(fault);
  }

  #discardConnection(): void {
    if (this.#connection !== null) this.#pools.discard(this.#connection);
    this.#connection = null;
  }

  /** Whether this was the end: everything that ends a call passes here, once. */
  #close(): boolean {
    if (!this.#open) return false;
    this.#open = false;
    this.#wheel.stop(this);
    return true;
  }

  #stillOpen(): boolean {
    return this.#open;
  }

  #dispatchOptions(): Dispatcher.DispatchOptions {
    const { path, headers, body } = this.#request;
    let bytes = 0;
    for (const piece of body) bytes += piece.byteLength;
    const [only] = body;
    if (body.length === 1 && only !== undefined) return { path, method: 'POST', headers, body: asBuffer(only) };
    if (bytes <= joinUpToBytes) return { path, method: 'POST', headers, body: Buffer.concat(body, bytes) };
    const sized = [...headers, 'content-length', String(bytes)];
    return { path, method: 'POST', headers: sized, body: body as unknown as Dispatcher.DispatchOptions['body'] & object };
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
