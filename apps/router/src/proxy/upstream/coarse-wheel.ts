/** Something with a deadline. Owned by its user, linked by the wheel; moving the deadline later costs one assignment. */
export interface WheelEntry {
  /** On the wheel's clock. May grow while the entry is linked; to make it earlier, `start` again. */
  deadlineMs: number;
  onDeadline(): void;
}

const tickMs = 20;
const slots = 512;

/**
 * Deadlines for thousands of calls with one timer: an entry sits in the slot of its deadline, and one whose deadline
 * has moved by the time its slot comes is put into its new slot. Fires up to two ticks late and never early.
 *
 * The timer runs only while entries exist and never keeps the process alive.
 */
export class CoarseWheel {
  readonly #slots: Set<WheelEntry>[] = Array.from({ length: slots }, () => new Set());
  readonly #slotOf = new Map<WheelEntry, Set<WheelEntry>>();
  readonly #clock: () => number;
  #timer: NodeJS.Timeout | null = null;
  #tick: number;
  #nowMs: number;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#nowMs = clock();
    this.#tick = Math.floor(this.#nowMs / tickMs);
  }

  /** Time of the last tick while entries exist: up to one tick old and free of charge. */
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
    const slot = this.#slotOf.get(entry);
    if (slot === undefined) return;
    slot.delete(entry);
    this.#slotOf.delete(entry);
    if (this.#slotOf.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  #link(entry: WheelEntry): void {
    const due = Math.max(Math.ceil(entry.deadlineMs / tickMs), this.#tick + 1);
    const slot = this.#slots[Math.min(due, this.#tick + slots - 1) % slots];
    if (slot === undefined) return;
    slot.add(entry);
    this.#slotOf.set(entry, slot);
  }

  #advance(): void {
    this.#nowMs = this.#clock();
    const target = Math.floor(this.#nowMs / tickMs);
    const first = Math.max(this.#tick + 1, target - slots + 1);
    for (let tick = first; tick <= target; tick++) {
      this.#tick = tick;
      const slot = this.#slots[tick % slots];
      if (slot === undefined || slot.size === 0) continue;
      const due = [...slot];
      slot.clear();
      for (const entry of due) {
        if (this.#slotOf.get(entry) !== slot) continue;
        if (entry.deadlineMs > this.#nowMs) {
          this.#link(entry);
        } else {
          this.stop(entry);
          entry.onDeadline();
        }
      }
    }
    this.#tick = Math.max(this.#tick, target);
  }
}
