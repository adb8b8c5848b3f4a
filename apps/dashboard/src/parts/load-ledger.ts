import type { WorkerView } from '@switchyard/core/contracts';

export interface LoadLedger {
  /** Requests the router has on it. */
  readonly router: number;
  readonly running: number;
  readonly waiting: number;
  /** Of the engine's own numbers. */
  readonly ageMs: number;
  /** Engine minus router; other clients of the engine make it positive, lost requests negative. */
  readonly drift: number;
  /** More than numbers taken moments apart can differ. */
  readonly isDrifting: boolean;
}

const leastDrift = 3;
const driftShare = 0.25;
const staleMs = 20_000;

/** The router's in-flight beside what the engine says of itself; `null` when it says nothing. */
export function ledgerOf({ load, engine }: Pick<WorkerView, 'load' | 'engine'>): LoadLedger | null {
  if (engine?.running == null || engine.ageMs === null) return null;
  const { running, ageMs } = engine;
  const waiting = engine.waiting ?? 0;
  const drift = running + waiting - load;
  const allowed = Math.max(leastDrift, Math.ceil(Math.max(load, running + waiting) * driftShare));
  return { router: load, running, waiting, ageMs, drift, isDrifting: Math.abs(drift) > allowed && ageMs < staleMs };
}
