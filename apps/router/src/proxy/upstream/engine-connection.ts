import { type Socket } from 'node:net';
import { buildConnector, Client } from 'undici';

/** One connection to an engine at a time, which knows whether it has served a request before. */
export class EngineConnection extends Client {
  readonly endpoint: string;
  #written = 0;
  #socket: Socket | null = null;

  constructor(endpoint: string, { connectTimeoutMs, ...options }: Omit<Client.Options, 'connect' | 'connectTimeout'> & { readonly connectTimeoutMs: number }) {
    const connector = buildConnector({ timeout: connectTimeoutMs });
    super(endpoint, {
      ...options,
      connect: (target, done) => {
        connector(target, (...[error, socket]) => {
          this.#socket = socket;
          if (error === null) done(null, socket);
          else done(error, null);
        });
      },
    });
    this.endpoint = endpoint;
    this.on('connect', () => {
      this.#written = 0;
    });
  }

  /** Whether the engine has been sent all of what it was to get: one that answers early may never read the rest. */
  get sentAll(): boolean {
    return this.#socket?.writableLength === 0;
  }

  /** Called when a request is about to be written: whether it is not the first one of this connection. */
  countRequest(): boolean {
    this.#written += 1;
    return this.#written > 1;
  }
}
