import { type Server } from 'node:http';
import { type Socket } from 'node:net';
import { type ClientExchange } from './client-exchange.js';

/**
 * Knows which exchanges are open on which client connection, and ends them when the client closes or half-closes it:
 * both arrive as FIN, and nothing tells them apart.
 */
export class ClientPresence {
  readonly #bySocket = new WeakMap<Socket, Set<ClientExchange>>();
  readonly #open = new Set<ClientExchange>();
  readonly #idleListeners: (() => void)[] = [];

  /** Follows the connections of `server`. */
  follow(server: Server): void {
    server.on('connection', (socket) => {
      const exchanges = new Set<ClientExchange>();
      this.#bySocket.set(socket, exchanges);
      const gone = () => {
        for (const exchange of exchanges) exchange.end('client_gone');
      };
      socket.once('end', gone).once('close', gone);
    });
  }

  get openCount(): number {
    return this.#open.size;
  }

  openOn(socket: Socket): number {
    return this.#bySocket.get(socket)?.size ?? 0;
  }

  enter(exchange: ClientExchange): void {
    this.#open.add(exchange);
    const { socket } = exchange.req;
    this.#bySocket.get(socket)?.add(exchange);
    if (socket.destroyed || socket.readableEnded) exchange.end('client_gone');
  }

  leave(exchange: ClientExchange): void {
    this.#open.delete(exchange);
    this.#bySocket.get(exchange.req.socket)?.delete(exchange);
    if (this.#open.size === 0) for (const listener of this.#idleListeners.splice(0)) listener();
  }

  /** Ends every open exchange from the router's side. */
  endAll(): void {
    for (const exchange of [...this.#open]) exchange.end('shutdown');
  }

  /** Resolves when no exchange is open. */
  whenIdle(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleListeners.push(resolve));
  }
}
