import { type CoarseWheel, Deadline, WheelEntry } from '../upstream/coarse-wheel.js';
import { type ClientExchange } from './client-exchange.js';

export type BodyResult =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** Slower than the least rate. */
  | { readonly kind: 'slow' }
  /** The client or the router has given up. */
  | { readonly kind: 'ended' };

/** A client that sends less than this after the grace time is holding a connection, not uploading. */
const leastBytesPerMs = 1.024;

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly uploadGraceMs: number;
}

/** Reads a request body into one buffer. Leaves the rest unread when it is larger than the limit. */
export function readBody(exchange: ClientExchange, limits: BodyLimits, wheel: CoarseWheel): Promise<BodyResult> {
  const announced = Number(exchange.req.headers['content-length'] ?? 0);
  if (announced > limits.maxBodyBytes) return Promise.resolve({ kind: 'too_large' });
  return new Promise((resolve) => new BodyReader(exchange, limits, wheel, resolve).start());
}

class BodyReader extends WheelEntry {
  readonly #exchange: ClientExchange;
  readonly #maxBytes: number;
  readonly #wheel: CoarseWheel;
  readonly #resolve: (result: BodyResult) => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(exchange: ClientExchange, { maxBodyBytes, uploadGraceMs }: BodyLimits, wheel: CoarseWheel, resolve: (result: BodyResult) => void) {
    super();
    this.#exchange = exchange;
    this.#maxBytes = maxBodyBytes;
    this.#wheel = wheel;
    this.#resolve = resolve;
    this.deadlineMs = wheel.coarseNowMs + uploadGraceMs;
  }

  start(): void {
    this.#wheel.start(this);
    this.#exchange.req.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError);
    this.#exchange.onEnd(() => this.#finish({ kind: 'ended' }));
  }

  onDeadline(): void {
    this.#finish({ kind: 'slow' });
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      this.#exchange.req.pause();
      this.#finish({ kind: 'too_large' });
      return;
    }
    this.deadlineMs += chunk.length / leastBytesPerMs;
    this.#chunks.push(chunk);
    this.#exchange.bodyBytes = this.#bytes;
  };

  readonly #onEnd = (): void => {
    const [only] = this.#chunks;
    const bytes = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks, this.#bytes);
    this.#finish({ kind: 'body', bytes });
  };

  /** A broken upload is a client that is gone; what to do about that is decided where the connection is followed. */
  readonly #onError = (): void => {
    this.#finish({ kind: 'ended' });
  };

  #finish(result: BodyResult): void {
    this.#wheel.stop(this);
    const { req } = this.#exchange;
    req.off('data', this.#onData).off('end', this.#onEnd);
    this.#resolve(result);
  }
}

const discardBytes = 67_108_864;
const discardMs = 5000;

/**
 * Reads on and throws away what a client still sends after it was refused, so that it gets to read the answer instead
 * of a reset; resolves when the upload ends, or 64 MiB or 5 s later.
 */
export function discardBody(exchange: ClientExchange, wheel: CoarseWheel): Promise<void> {
  const { req } = exchange;
  return new Promise((resolve) => {
    let bytes = 0;
    const entry = new Deadline(wheel.coarseNowMs + discardMs, () => done());
    const done = () => {
      wheel.stop(entry);
      resolve();
    };
    wheel.start(entry);
    exchange.onEnd(done);
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > discardBytes) done();
    });
    req.on('end', done).on('error', done);
    req.resume();
  });
}
