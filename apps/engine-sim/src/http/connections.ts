import { type Socket } from 'node:net';

interface ConnectionCount {
  readonly id: number;
  requests: number;
}

/** Numbers connections, and the requests on each. */
export class Connections {
  readonly #counts = new WeakMap<Socket, ConnectionCount>();
  #opened = 0;

  get opened(): number {
    return this.#opened;
  }

  count(socket: Socket): { readonly connection: number; readonly requestOnConnection: number } {
    let count = this.#counts.get(socket);
    if (count === undefined) {
      this.#opened += 1;
      count = { id: this.#opened, requests: 0 };
      this.#counts.set(socket, count);
    }
    count.requests += 1;
    return { connection: count.id, requestOnConnection: count.requests };
  }
}
