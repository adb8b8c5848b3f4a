import { pack } from 'msgpackr';
import { Dealer } from 'zeromq';

export interface Ping {
  readonly type: 'P' | 'D';
  readonly http_address: string;
  readonly zmq_address: string;
  readonly [key: string]: unknown;
}

/** An engine's pinging socket, as vLLM opens it: a DEALER whose identity is its zmq address. */
export class Pinger {
  readonly #socket: Dealer;
  #timer: NodeJS.Timeout | null = null;

  constructor(discovery: string, identity?: string) {
    this.#socket = new Dealer({ linger: 0, ipv6: true, ...(identity === undefined ? {} : { routingId: identity }) });
    this.#socket.connect(`tcp://${discovery}`);
  }

  async send(...frames: readonly Uint8Array[]): Promise<void> {
    await this.#socket.send([...frames]);
  }

  async ping(map: Ping): Promise<void> {
    await this.send(pack(map));
  }

  /** Pings now and then every `everyMs`. */
  async keepPinging(map: Ping, everyMs = 500): Promise<void> {
    this.silence();
    await this.ping(map);
    this.#timer = setInterval(() => void this.ping(map).catch(() => undefined), everyMs);
  }

  silence(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  close(): void {
    this.silence();
    this.#socket.close();
  }
}
