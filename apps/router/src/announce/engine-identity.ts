import { startTimeToleranceSecs } from '@switchyard/core';

/**
 * Names the engine process, so that the router can tell a restart from silence: by its start time when that can be
 * read, else by a name drawn anew each time `/health` has refused a connection in between. Knows neither at first, and
 * then gives no name: a wrong claim of a new process would cost the engine its prefix affinity and its drains.
 */
export class EngineIdentity {
  readonly #draw: () => string;
  #instance: string | null = null;
  #startedAtSecs: number | null = null;
  #refused = false;

  constructor(draw: () => string) {
    this.#draw = draw;
  }

  get instance(): string | null {
    return this.#instance;
  }

  get startedAtSecs(): number | null {
    return this.#startedAtSecs;
  }

  /** `/health` refused a connection: what answers next may be another process. */
  refused(): void {
    this.#refused = true;
  }

  /** `/health` answered; `startedAtSecs` as `/metrics` gives it, `null` when it could not be read. */
  answered(startedAtSecs: number | null): void {
    if (startedAtSecs === null) {
      if (!this.#refused) return;
      this.#instance = `drawn-${this.#draw()}`;
      this.#startedAtSecs = null;
    } else if (this.#namesAnother(startedAtSecs)) {
      this.#instance = `started-${Math.floor(startedAtSecs * 1000 + 0.5)}`;
      this.#startedAtSecs = startedAtSecs;
    } else {
      this.#startedAtSecs ??= startedAtSecs;
    }
    this.#refused = false;
  }

  #namesAnother(startedAtSecs: number): boolean {
    // A drawn name stays when its process turns out to have a start time: same process, same name.
    if (this.#startedAtSecs === null) return this.#instance === null || this.#refused;
    const laterBySecs = startedAtSecs - this.#startedAtSecs;
    return laterBySecs > startTimeToleranceSecs || (this.#refused && laterBySecs < -startTimeToleranceSecs);
  }
}
