import { EngineConnection } from './engine-connection.js';

export interface EnginePoolOptions {
  readonly connectTimeoutMs: number;
  readonly upstreamKeepaliveMs: number;
}

interface Origin {
  /** The most recently used last. */
  readonly idle: EngineConnection[];
  /** Busy and idle ones. */
  connections: number;
}

/**
 * Connections to engines, one request a connection. Timeouts of answers are the callers': here only connecting and
 * idling are limited.
 *
 * Not undici's `Pool`: after an aborted request that one connects anew, to an engine that may be the reason of the
 * abort, and keeps every client it ever made. Here a connection ends with the call that broke or gave it up, the most
 * recently used idle one is taken first, and an endpoint without connections is forgotten.
 */
export class EnginePools {
  readonly #origins = new Map<string, Origin>();
  readonly #all = new Set<EngineConnection>();
  readonly #options: ConstructorParameters<typeof EngineConnection>[1];

  constructor({ connectTimeoutMs, upstreamKeepaliveMs }: EnginePoolOptions) {
    this.#options = {
      pipelining: 1,
      connectTimeoutMs,
      keepAliveTimeout: upstreamKeepaliveMs,
      keepAliveMaxTimeout: upstreamKeepaliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  }

  /** Endpoints with connections. */
  get size(): number {
    return this.#origins.size;
  }

  /** A connection for one call, which gives it back by `release` or ends it by `discard`. */
  acquire(endpoint: string): EngineConnection {
    return this.#origins.get(endpoint)?.idle.pop() ?? this.acquireFresh(endpoint);
  }

  /** The same, never one that was used before. */
  acquireFresh(endpoint: string): EngineConnection {
    const connection = new EngineConnection(endpoint, this.#options);
    this.#all.add(connection);
    const origin = this.#origins.get(endpoint);
    if (origin === undefined) this.#origins.set(endpoint, { idle: [], connections: 1 });
    else origin.connections += 1;
    connection.on('disconnect', () => {
      if (this.#origins.get(endpoint)?.idle.includes(connection) === true) this.discard(connection);
    });
    return connection;
  }

  release(connection: EngineConnection): void {
    if (!connection.sentAll) this.discard(connection);
    else if (this.#all.has(connection)) this.#origins.get(connection.endpoint)?.idle.push(connection);
  }

  discard(connection: EngineConnection): void {
    if (!this.#all.delete(connection)) return;
    void connection.destroy();
    const origin = this.#origins.get(connection.endpoint);
    if (origin === undefined) return;
    const at = origin.idle.indexOf(connection);
    if (at !== -1) origin.idle.splice(at, 1);
    origin.connections -= 1;
    if (origin.connections === 0) this.#origins.delete(connection.endpoint);
  }

  /** Ends the idle connections of `endpoint`: one has turned out dead, and the rest has idled at least as long. */
  discardIdle(endpoint: string): void {
    for (const connection of [...(this.#origins.get(endpoint)?.idle ?? [])]) this.discard(connection);
  }

  /** Closes all connections at once. */
  async close(): Promise<void> {
    this.#origins.clear();
    const all = [...this.#all];
    this.#all.clear();
    await Promise.all(all.map((connection) => connection.destroy()));
  }
}
