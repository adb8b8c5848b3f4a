const minuteMs = 60_000;
const minutes = 15;

/** Matched and keyed bytes of the last 15 minutes, to the minute, by the clock of the caller. */
export class HitRateWindow {
  readonly #matched = new Float64Array(minutes);
  readonly #keyed = new Float64Array(minutes);
  #minute = -Infinity;

  add(nowMs: number, matchedBytes: number, keyedBytes: number): void {
    this.#advance(nowMs);
    const at = this.#minute % minutes;
    this.#matched[at] = (this.#matched[at] ?? 0) + matchedBytes;
    this.#keyed[at] = (this.#keyed[at] ?? 0) + keyedBytes;
  }

  /** Matched / keyed bytes, 0..1; 0 when nothing was keyed. */
  rate(nowMs: number): number {
    this.#advance(nowMs);
    const keyed = this.#keyed.reduce((sum, bytes) => sum + bytes, 0);
    return keyed === 0 ? 0 : this.#matched.reduce((sum, bytes) => sum + bytes, 0) / keyed;
  }

  #advance(nowMs: number): void {
    const minute = Math.floor(nowMs / minuteMs);
    if (minute <= this.#minute) return;
    for (let passed = Math.max(this.#minute + 1, minute - minutes + 1); passed <= minute; passed += 1) {
      this.#matched[passed % minutes] = 0;
      this.#keyed[passed % minutes] = 0;
    }
    this.#minute = minute;
  }
}
