import { Client, type Dispatcher } from 'undici';

/** A call that wants to know on which connection it is written. */
export interface ConnectionUser {
  useConnection(connection: EngineConnection): void;
}

/** One connection to an engine at a time, which knows whether it has served a request before. */
export class EngineConnection extends Client {
  #written = 0;

  constructor(origin: string | URL, options: Client.Options) {
    super(origin, options);
    this.on('connect', () => {
      this.#written = 0;
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if ('useConnection' in handler) (handler as unknown as ConnectionUser).useConnection(this);
    return super.dispatch(options, handler);
  }

  /** Called when a request is about to be written: whether it is not the first one of this connection. */
  countRequest(): boolean {
    this.#written += 1;
    return this.#written > 1;
  }
}
