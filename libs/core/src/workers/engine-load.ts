/** What an engine says of its own load, all its cores together; `null` = not told. */
export interface EngineLoadReading {
  readonly running: number | null;
  readonly waiting: number | null;
  /** Share of its KV blocks in use, 0..1. */
  readonly kvUsage: number | null;
}

/** A reading as it is kept. */
export interface EngineLoad extends EngineLoadReading {
  /** Monotonic milliseconds. */
  readonly atMs: number;
  /** Requests beyond those this router had there when it was read: somebody else's, or left-overs of ours. */
  readonly foreign: number;
}

/** A reading older than this tells nothing of the present. */
export const engineLoadFreshMs = 15_000;

/** Keeps what was read at `atMs`, when this router had `ours` requests on the engine. */
export function engineLoad(reading: EngineLoadReading, ours: number, atMs: number): EngineLoad {
  const { running, waiting } = reading;
  return { ...reading, atMs, foreign: Math.max(0, (running ?? 0) + (waiting ?? 0) - ours) };
}

/** Whether the engine is known to work on something that this router does not count; `null`, old: not known. */
export function worksForOthers(load: EngineLoad | null, nowMs: number): boolean {
  return load !== null && load.foreign > 0 && nowMs - load.atMs <= engineLoadFreshMs;
}
