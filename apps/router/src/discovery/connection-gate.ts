import { Reply, type Context } from 'zeromq';

/** Fixed by the ZeroMQ Authentication Protocol (RFC 27); one handler a context. */
const zapAddress = 'inproc://zeromq.zap.01';

/**
 * Judges peers by their network address before they may send anything: libzmq asks the handler at this address during
 * the handshake of every socket of the context that has a `zapDomain`. Messages themselves do not carry their sender's
 * address. Must be open before the guarded socket binds.
 *
 * A refusal answers 300 ("temporary"): after 400 libzmq peers never connect again, so an engine refused by a wrong
 * `--discovery-allow` would stay silent when the operator has corrected it.
 */
export class ConnectionGate {
  readonly #socket: Reply;
  readonly #admits: (address: string) => boolean;

  constructor(context: Context, admits: (address: string) => boolean) {
    this.#socket = new Reply({ context, linger: 0 });
    this.#admits = admits;
  }

  async open(): Promise<void> {
    await this.#socket.bind(zapAddress);
    void this.#serve();
  }

  close(): void {
    this.#socket.close();
  }

  async #serve(): Promise<void> {
    for await (const [version, requestId, , address] of this.#socket) {
      if (!version || !requestId) continue;
      const admitted = this.#admits(address?.toString('latin1') ?? '');
      await this.#socket.send([version, requestId, admitted ? '200' : '300', admitted ? 'OK' : 'Address not allowed', '', '']);
    }
  }
}
