import { Client } from 'undici';

/** One connection to an engine at a time, which knows whether it has served a request before. */
export class EngineConnection extends Client {
  readonly endpoint: string;
  #written = 0;

  constructor(endpoint: string, options: Client.Options) {
    super(endpoint, options);
    this.endpoint = endpoint;
    this.on('connect', () => {
      this.#written = 0;
    });
  }

  /** Called when a request is about to be written: whether it is not the first one of this connection. */
  countRequest(): boolean {
    this.#written += 1;
    return this.#written > 1;
  }
}
