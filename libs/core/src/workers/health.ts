import { type Health } from '../words.js';

export interface HealthOptions {
  /** Probe rounds in a row that make a worker unhealthy. */
  readonly failureThreshold: number;
  /** Good rounds in a row that make it healthy again. */
  readonly successThreshold: number;
  /** Whether a new worker waits for its first good round. */
  readonly gate: boolean;
}

/** One probe round: `/health`, and one finished attempt at start time and models. */
export interface ProbeRound {
  /** Monotonic milliseconds at which the round left. */
  readonly startedAtMs: number;
  readonly healthy: boolean;
}

/** Health of one generation, by probe rounds and by suspicion of a restart (lifecycle rule 2). */
export class WorkerHealth {
  readonly #options: HealthOptions;
  #state: Health = 'unknown';
  #gated: boolean;
  #suspectedAtMs: number | null = null;
  #failures = 0;
  #successes = 0;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#gated = options.gate;
  }

  get state(): Health {
    return this.#suspectedAtMs === null ? this.#state : 'unhealthy';
  }

  /** No good round has been seen yet in this generation. */
  get gated(): boolean {
    return this.#gated;
  }

  /** The engine may have restarted: unselectable until a round that left later is good. */
  get restartCheck(): boolean {
    return this.#suspectedAtMs !== null;
  }

  /** The connection was refused or reset in flight at `nowMs`. Not a proof of anything. */
  suspectRestart(nowMs: number): void {
    this.#suspectedAtMs = nowMs;
  }

  /**
   * Takes a finished round. `recovered` = a suspicion ended without proof: the generation stays, its cache may be gone.
   * A round that left before the suspicion says nothing about the process that is there now.
   */
  probed(round: ProbeRound): 'recovered' | 'counted' {
    if (!round.healthy) {
      this.#successes = 0;
      this.#failures += 1;
      if (this.#failures >= this.#options.failureThreshold && !this.#gated) this.#state = 'unhealthy';
      return 'counted';
    }
    this.#failures = 0;
    this.#successes += 1;
    if (this.#gated || this.#state === 'unknown' || this.#successes >= this.#options.successThreshold) {
      this.#gated = false;
      this.#state = 'healthy';
    }
    if (this.#suspectedAtMs === null || round.startedAtMs < this.#suspectedAtMs) return 'counted';
    this.#suspectedAtMs = null;
    this.#state = 'healthy';
    return 'recovered';
  }
}
