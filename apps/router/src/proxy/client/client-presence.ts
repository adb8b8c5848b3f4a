import { type Server } from 'node:http';
import { type Socket } from 'node:net';
import { type ClientExchange } from './client-exchange.js';

/**
 * Knows which exchanges are open on which client connection, and ends them when the client closes or half-closes it:
 * both arrive as FIN, and nothing tells them apart.
 */
export class ClientPresence {
  /** Nearly always one a connection; more only for clients that pipeline. */
  readonly #bySocket = new WeakMap<Socket, ClientExchange[]>();
  #newest: ClientExchange | null = null;
  #openCount = 0;
  readonly #idleListeners: (() => void)[] = [];

  /** Follows the connections of `server`. */
  follow(server: Server): void {
    server.on('connection', (socket) => {
      const exchanges: ClientExchange[] = [];
      this.#bySocket.set(socket, exchanges);
      const gone = () => {
        for (const exchange of [...exchanges]) exchange.end('client_gone');
      };
      socket.once('end', gone).once('close', gone);
    });
  }

  get openCount(): number {
    return this.#openCount;
  }

  /** Body bytes of all open exchanges. O(open exchanges). */
  get bufferedBytes(): number {
    let bytes = 0;
    for (let exchange = this.#newest; exchange !== null; exchange = exchange.next) bytes += exchange.bodyBytes;
    return bytes;
  }

  /** In the order of their requests. */
  openOn(socket: Socket): readonly ClientExchange[] {
    return this.#bySocket.get(socket) ?? [];
  }

  enter(exchange: ClientExchange): void {
    this.#openCount += 1;
    exchange.next = this.#newest;
    if (this.#newest !== null) this.#newest.previous = exchange;
    this.#newest = exchange;
    const { socket } = exchange.req;
    this.#bySocket.get(socket)?.push(exchange);
    if (socket.destroyed || socket.readableEnded) exchange.end('client_gone');
  }

  leave(exchange: ClientExchange): void {
    const { next, previous } = exchange;
    if (next !== null) next.previous = previous;
    if (previous !== null) previous.next = next;
    else if (this.#newest === exchange) this.#newest = next;
    exchange.next = null;
    exchange.previous = null;
    exchange.close();
    const onSocket = this.#bySocket.get(exchange.req.socket);
    const at = onSocket?.indexOf(exchange) ?? -1;
    if (at !== -1) onSocket?.splice(at, 1);
    this.#openCount -= 1;
    if (this.#openCount === 0) for (const listener of this.#idleListeners.splice(0)) listener();
  }

  /** Ends every open exchange from the router's side. */
  endAll(): void {
    const open: ClientExchange[] = [];
    for (let exchange = this.#newest; exchange !== null; exchange = exchange.next) open.push(exchange);
    for (const exchange of open) exchange.end('shutdown');
  }

  /** Resolves when no exchange is open. */
  whenIdle(): Promise<void> {
    if (this.#openCount === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleListeners.push(resolve));
  }
}
