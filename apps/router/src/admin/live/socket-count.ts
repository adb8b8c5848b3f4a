import { type Socket } from 'node:net';

import { type LiveLimits } from './live-limits.js';

/** Bounds the sockets there may be, in all and by address: whoever has no token yet costs memory as well. */
export class SocketCount {
  readonly #limits: Pick<LiveLimits, 'mostSockets' | 'mostSocketsPerAddress'>;
  readonly #byAddress = new Map<string, number>();
  #all = 0;

  constructor(limits: Pick<LiveLimits, 'mostSockets' | 'mostSocketsPerAddress'>) {
    this.#limits = limits;
  }

  /** Counts `socket` until it closes; `false` when there is no room for it. */
  admit(socket: Socket): boolean {
    const address = socket.remoteAddress ?? '';
    const here = this.#byAddress.get(address) ?? 0;
    if (here >= this.#limits.mostSocketsPerAddress || this.#all >= this.#limits.mostSockets) return false;
    this.#all += 1;
    this.#byAddress.set(address, here + 1);
    socket.once('close', () => {
      this.#all -= 1;
      const left = (this.#byAddress.get(address) ?? 1) - 1;
      if (left === 0) this.#byAddress.delete(address);
      else this.#byAddress.set(address, left);
    });
    return true;
  }
}
