/**
 * Something with a deadline. Its user extends it and may move the deadline later by mere assignment; to make it
 * earlier, `start` again. The links are the wheel's own.
 */
export abstract class WheelEntry {
  /** On the wheel's clock. */
  deadlineMs = 0;
  /** @internal */
  wheelNext: WheelEntry | null = null;
  /** @internal */
  wheelPrevious: WheelEntry | null = null;
  /** @internal Slot of the entry; -1 while it is not linked. */
  wheelSlot = -1;

  abstract onDeadline(): void;
}

const tickMs = 20;
const slots = 512;

/**
 * Deadlines for thousands of calls with one timer: an entry sits in the slot of its deadline, and one whose deadline
 * has moved by the time its slot comes is put into its new slot. Fires up to two ticks late and never early.
 *
 * Entries are linked to each other rather than kept in a Map: a Map that grows anew every hundred requests leaves its
 * old tables in the old generation, and with them every request that was in them.
 *
 * The timer runs only while entries exist and never keeps the process alive.
 */
export class CoarseWheel {
  readonly #heads: (WheelEntry | null)[] = new Array<WheelEntry | null>(slots).fill(null);
  readonly #clock: () => number;
  #timer: NodeJS.Timeout | null = null;
  #entries = 0;
  #idleTicks = 0;
  #tick: number;
  #nowMs: number;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#nowMs = clock();
    this.#tick = Math.floor(this.#nowMs / tickMs);
  }

  /** Time of the last tick while the wheel turns: up to one tick old and free of charge. */
  get coarseNowMs(): number {
    return this.#timer === null ? this.#clock() : this.#nowMs;
  }

  start(entry: WheelEntry): void {
    this.stop(entry);
    if (this.#timer === null) {
      this.#nowMs = this.#clock();
      this.#tick = Math.floor(this.#nowMs / tickMs);
      this.#timer = setInterval(() => this.#advance(), tickMs);
      this.#timer.unref();
    }
    this.#link(entry);
  }

  stop(entry: WheelEntry): void {
    const { wheelSlot, wheelNext, wheelPrevious } = entry;
    if (wheelSlot === -1) return;
    if (wheelPrevious === null) this.#heads[wheelSlot] = wheelNext;
    else wheelPrevious.wheelNext = wheelNext;
    if (wheelNext !== null) wheelNext.wheelPrevious = wheelPrevious;
    entry.wheelNext = null;
    entry.wheelPrevious = null;
    entry.wheelSlot = -1;
    this.#entries -= 1;
  }

  #link(entry: WheelEntry): void {
    const due = Math.max(Math.ceil(entry.deadlineMs / tickMs), this.#tick + 1);
    const slot = Math.min(due, this.#tick + slots - 1) % slots;
    const head = this.#heads[slot] ?? null;
    entry.wheelNext = head;
    if (head !== null) head.wheelPrevious = entry;
    this.#heads[slot] = entry;
    entry.wheelSlot = slot;
    this.#entries += 1;
  }

  #advance(): void {
    this.#nowMs = this.#clock();
    this.#stopWhenIdle();
    const target = Math.floor(this.#nowMs / tickMs);
    for (let tick = Math.max(this.#tick + 1, target - slots + 1); tick <= target; tick++) {
      this.#tick = tick;
      // Whatever is linked meanwhile goes into a later slot, so that this one runs empty.
      for (let entry = this.#heads[tick % slots] ?? null; entry !== null; entry = this.#heads[tick % slots] ?? null) {
        this.stop(entry);
        if (entry.deadlineMs > this.#nowMs) this.#link(entry);
        else entry.onDeadline();
      }
    }
    this.#tick = Math.max(this.#tick, target);
  }

  /** A second without entries: stopping at once would start a timer for every request of a quiet router. */
  #stopWhenIdle(): void {
    this.#idleTicks = this.#entries === 0 ? this.#idleTicks + 1 : 0;
    if (this.#timer === null || this.#idleTicks < 1000 / tickMs) return;
    this.#idleTicks = 0;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** An entry that calls a function. */
export class Deadline extends WheelEntry {
  readonly #fire: () => void;

  constructor(deadlineMs: number, fire: () => void) {
    super();
    this.deadlineMs = deadlineMs;
    this.#fire = fire;
  }

  onDeadline(): void {
    this.#fire();
  }
}
