/** A request's place among the running and waiting ones. */
export interface RunTicket {
  /** Ends it, running or waiting; further calls do nothing. */
  leave(): void;
}

/** Runs at most `limit` requests, the rest waits in order of arrival. */
export class RunQueue {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Calls `start` once there is room, at once when there is some now. */
  enter(start: () => void): RunTicket {
    let state: 'waiting' | 'running' | 'left' = 'waiting';
    const begin = (): void => {
      this.#waiting.delete(begin);
      state = 'running';
      this.#running += 1;
      start();
    };
    const leave = (): void => {
      if (state === 'waiting') this.#waiting.delete(begin);
      if (state === 'running') {
        this.#running -= 1;
        const [next] = this.#waiting;
        next?.();
      }
      state = 'left';
    };
    if (this.#running < this.#limit) begin();
    else this.#waiting.add(begin);
    return { leave };
  }
}
