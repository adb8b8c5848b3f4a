import { type Client } from 'undici';
import { EngineConnection } from './engine-connection.js';

export interface EnginePoolOptions {
  readonly connectTimeoutMs: number;
  readonly upstreamKeepaliveMs: number;
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
  readonly #idle = new Map<string, EngineConnection[]>();
  readonly #all = new Set<EngineConnection>();
  readonly #options: Client.Options;

  constructor({ connectTimeoutMs, upstreamKeepaliveMs }: EnginePoolOptions) {
    this.#options = {
      pipelining: 1,
      connectTimeout: connectTimeoutMs,
      keepAliveTimeout: upstreamKeepaliveMs,
      keepAliveMaxTimeout: upstreamKeepaliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  }

  /** Connections that exist, busy or idle. */
  get size(): number {
    return this.#all.size;
  }

  /** A connection for one call, which gives it back by `release` or ends it by `discard`. */
  acquire(endpoint: string): EngineConnection {
    const idle = this.#idle.get(endpoint);
    const connection = idle?.pop();
    if (idle?.length === 0) this.#idle.delete(endpoint);
    return connection ?? this.acquireFresh(endpoint);
  }

  /** The same, never one that was used before. */
  acquireFresh(endpoint: string): EngineConnection {
    const connection = new EngineConnection(endpoint, this.#options);
    this.#all.add(connection);
    connection.on('disconnect', () => {
      if (this.#withdraw(connection)) this.discard(connection);
    });
    return connection;
  }

  release(connection: EngineConnection): void {
    if (!this.#all.has(connection)) return;
    const idle = this.#idle.get(connection.endpoint);
    if (idle === undefined) this.#idle.set(connection.endpoint, [connection]);
    else idle.push(connection);
  }

  discard(connection: EngineConnection): void {
    if (this.#all.delete(connection)) void connection.destroy();
  }

  /** Closes all connections at once. */
  async close(): Promise<void> {
    this.#idle.clear();
    const all = [...this.#all];
    this.#all.clear();
    await Promise.all(all.map((connection) => connection.destroy()));
  }

  /** Takes `connection` out of the idle ones; whether it was there. */
  #withdraw(connection: EngineConnection): boolean {
    const idle = this.#idle.get(connection.endpoint);
    const at = idle?.indexOf(connection) ?? -1;
    if (idle === undefined || at === -1) return false;
    idle.splice(at, 1);
    if (idle.length === 0) this.#idle.delete(connection.endpoint);
    return true;
  }
}
