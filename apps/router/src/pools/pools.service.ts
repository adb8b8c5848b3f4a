import { Inject, Injectable } from '@nestjs/common';
import { type Cluster, TrafficHistory, trafficLook } from '@switchyard/core';

/** Time between ticks of the listening clock; the clock takes at most two of them at once. */
const tickMs = 250;
const ticksPerSweep = 4;

/** Something that must be read empty before time advances: a queued ping is older than the tick. */
export interface HeardFirst {
  drained(quietMs?: number): Promise<void>;
}

export const CLUSTER = Symbol('CLUSTER');

/** Gives the core its time: reads what was heard, advances the listening clock, then looks after the nets. */
@Injectable()
export class PoolsService {
  readonly #cluster: Cluster;
  readonly #traffic: TrafficHistory;
  #listeners: readonly HeardFirst[] = [];
  #timer: NodeJS.Timeout | null = null;
  #ticking: Promise<void> = Promise.resolve();
  #busy = false;
  #ticks = 0;
  #lastTickAtMs = 0;

  constructor(@Inject(CLUSTER) cluster: Cluster, @Inject(TrafficHistory) traffic: TrafficHistory) {
    this.#cluster = cluster;
    this.#traffic = traffic;
  }

  /** Starts ticking; `listeners` are drained before every tick. `afterTick` runs in the same turn as the tick. */
  start(listeners: readonly HeardFirst[], afterTick: () => void): void {
    this.#listeners = listeners;
    this.#lastTickAtMs = performance.now();
    this.#timer = setInterval(() => {
      if (!this.#busy) this.#ticking = this.#tick(afterTick);
    }, tickMs);
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#ticking;
  }

  async #tick(afterTick: () => void): Promise<void> {
    this.#busy = true;
    try {
      // After a pause of the whole process the network threads need a moment of their own to catch up.
      const paused = performance.now() - this.#lastTickAtMs > 4 * tickMs;
      for (const listener of this.#listeners) await listener.drained(paused ? tickMs : undefined);
      this.#lastTickAtMs = performance.now();
      this.#cluster.tick();
      this.#traffic.look(() => trafficLook(this.#cluster));
      this.#ticks += 1;
      if (this.#ticks % ticksPerSweep === 0) this.#cluster.scheduler.sweepLedger();
      afterTick();
    } finally {
      this.#busy = false;
    }
  }
}
