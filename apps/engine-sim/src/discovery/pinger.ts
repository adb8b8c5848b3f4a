import { pack } from 'msgpackr';
import { Dealer } from 'zeromq';
import { type SimOptions } from '../options.js';

/** What an engine states in every ping. */
export interface PingFacts {
  readonly router: string;
  readonly httpAddress: string;
  readonly zmqAddress: string;
  readonly startedAtSecs: number;
}

/** The msgpack map of vLLM's P2P NCCL or MoRI-IO ping thread, plus the labels asked for. */
export function pingMap(options: SimOptions, facts: PingFacts): Record<string, unknown> {
  const startedAt = options.startedAt === 'auto' ? facts.startedAtSecs : options.startedAt;
  return {
    type: options.role === 'prefill' ? 'P' : 'D',
    http_address: facts.httpAddress,
    zmq_address: facts.zmqAddress,
    ...(options.connector === 'moriio' ? { dp_size: 1, tp_size: 1, transfer_mode: options.transferMode } : {}),
    ...(options.instance === null ? {} : { instance: options.instance }),
    ...(options.connectorLabel === null ? {} : { connector: options.connectorLabel }),
    ...(options.group === null ? {} : { group: options.group }),
    ...(startedAt === null ? {} : { started_at: startedAt }),
  };
}

/** Pings the router's discovery socket for ever, as an engine's ping thread does. */
export class Pinger {
  readonly #socket: Dealer;
  readonly #message: Buffer;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | null = null;
  #sending = false;
  #sent = 0;

  constructor(options: SimOptions, facts: PingFacts) {
    // MoRI-IO engines set no identity.
    this.#socket = new Dealer({ linger: 0, ipv6: true, ...(options.connector === 'moriio' ? {} : { routingId: facts.zmqAddress }) });
    this.#socket.connect(`tcp://${facts.router}`);
    this.#message = pack(pingMap(options, facts));
    this.#intervalMs = options.pingIntervalMs;
  }

  get sent(): number {
    return this.#sent;
  }

  get pinging(): boolean {
    return this.#timer !== null;
  }

  start(): void {
    if (this.#timer !== null) return;
    this.#timer = setInterval(() => void this.#ping(), this.#intervalMs);
    void this.#ping();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  close(): void {
    this.stop();
    this.#socket.close();
  }

  async #ping(): Promise<void> {
    // With the router away, messages queue up to ZMQ's limit; then the thread would block, so pings are skipped.
    if (this.#sending) return;
    this.#sending = true;
    try {
      await this.#socket.send(this.#message);
      this.#sent += 1;
    } catch (error) {
      if (!this.#socket.closed) process.stderr.write(`ping failed: ${String(error)}\n`);
    } finally {
      this.#sending = false;
    }
  }
}
