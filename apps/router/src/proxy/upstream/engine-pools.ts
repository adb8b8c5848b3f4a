import { type Dispatcher, Pool } from 'undici';
import { EngineConnection } from './engine-connection.js';

export interface EnginePoolOptions {
  readonly connectTimeoutMs: number;
  readonly upstreamKeepaliveMs: number;
}

interface OriginPool {
  readonly pool: Pool;
  calls: number;
  idleSinceMs: number;
}

/** A pool unused for so long is closed: its connections are long gone, and workers come and go on changing ports. */
const closeIdlePoolMs = 30_000;

/**
 * One connection pool an engine endpoint, one request a connection. Timeouts of answers are the callers': the pool
 * limits only how long connecting may take and how long an idle connection is kept.
 */
export class EnginePools {
  readonly #pools = new Map<string, OriginPool>();
  readonly #connectionOptions: Pool.Options;
  readonly #sweeper: NodeJS.Timeout;

  constructor({ connectTimeoutMs, upstreamKeepaliveMs }: EnginePoolOptions) {
    this.#connectionOptions = {
      pipelining: 1,
      connectTimeout: connectTimeoutMs,
      keepAliveTimeout: upstreamKeepaliveMs,
      keepAliveMaxTimeout: upstreamKeepaliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#sweeper = setInterval(() => this.#sweep(), closeIdlePoolMs / 3);
    this.#sweeper.unref();
  }

  /** Number of endpoints with a pool. */
  get size(): number {
    return this.#pools.size;
  }

  /** Sends a call over a connection of the endpoint's pool. The caller tells by `release` when it is over. */
  dispatch(endpoint: string, options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    let origin = this.#pools.get(endpoint);
    if (origin === undefined) {
      const factory = (url: URL, opts: object) => new EngineConnection(url, opts);
      origin = { pool: new Pool(endpoint, { ...this.#connectionOptions, factory }), calls: 0, idleSinceMs: 0 };
      this.#pools.set(endpoint, origin);
    }
    origin.calls += 1;
    origin.pool.dispatch(options, handler);
  }

  release(endpoint: string): void {
    const origin = this.#pools.get(endpoint);
    if (origin === undefined) return;
    origin.calls -= 1;
    origin.idleSinceMs = performance.now();
  }

  /** Sends a call over a connection made for it alone. */
  dispatchFresh(endpoint: string, options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const connection = new EngineConnection(endpoint, this.#connectionOptions);
    connection.dispatch({ ...options, reset: true }, handler);
    void connection.close();
  }

  /** Closes all connections at once. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(({ pool }) => pool.destroy()));
  }

  #sweep(): void {
    const before = performance.now() - closeIdlePoolMs;
    for (const [endpoint, origin] of this.#pools) {
      if (origin.calls > 0 || origin.idleSinceMs > before) continue;
      this.#pools.delete(endpoint);
      void origin.pool.destroy();
    }
  }
}
