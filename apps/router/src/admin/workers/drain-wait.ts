import { Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';

const pollMs = 50;

/** Holds answers back until something has come true, their time is over, their client is gone or the router stops. */
@Injectable()
export class DrainWait {
  readonly #stopping = new AbortController();

  /** Whether `done` came true within `waitSecs`; asks every 50 ms. */
  async until(done: () => boolean, waitSecs: number, { raw }: FastifyRequest): Promise<boolean> {
    const deadlineMs = performance.now() + waitSecs * 1000;
    while (!done()) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0 || raw.socket.destroyed || this.#stopping.signal.aborted) return false;
      await this.#pause(Math.min(pollMs, leftMs));
    }
    return true;
  }

  onModuleDestroy(): void {
    this.#stopping.abort();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, ms);
    });
  }
}
