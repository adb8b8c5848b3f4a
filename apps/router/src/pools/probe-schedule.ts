import { type EngineLoadReading, type ProbeReport, type ProbeTarget } from '@switchyard/core';
import { type EngineFact, type HealthProber, type ModelEntry, type ProbeResult } from './health-prober.js';

/** What a round found, with what it says of the engine's health alone. */
export type ProbeRoundReport = ProbeReport & Pick<ProbeResult, 'health' | 'status'> & { readonly modelEntries: readonly ModelEntry[] | null };

export interface ProbeScheduleOptions {
  readonly prober: Pick<HealthProber, 'probe' | 'metrics'>;
  /** The workers there are now. */
  readonly targets: () => Iterable<ProbeTarget>;
  /** Takes a finished round of a worker that is still there. */
  readonly report: (workerId: string, report: ProbeRoundReport) => void;
  /** Takes what an engine told of its load. */
  readonly reportLoad: (workerId: string, load: EngineLoadReading) => void;
  readonly intervalMs: number;
  /** How often engines are asked for their load; `null` = never. */
  readonly loadIntervalMs: number | null;
  readonly monotonicMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly maxConcurrent?: number;
}

/** A gated worker is asked at every tick of 250 ms; timers come early or late by some of them. */
const urgentIntervalMs = 200;
/** Share of the interval by which rounds are moved, so that engines that came together are not asked together for ever. */
const jitter = 0.1;

/** An engine whose worker is drained is asked for its load this often: somebody waits for the answer. */
const leavingIntervalMs = 1_000;
/** Rounds come when health is due; they ask for the load too when that is due before the next one would be. */
const loadSlack = 0.2;
const allFacts: readonly EngineFact[] = ['version', 'models', 'startedAt'];

interface Subject {
  target: ProbeTarget;
  /** When the last round left; `null` before the first. */
  leftAtMs: number | null;
  intervalMs: number;
  /** When the engine was last asked for its load. */
  loadAskedAtMs: number;
  running: AbortController | null;
}

/**
 * Says when which worker is probed: at once when it is new, four times a second while a round is all that keeps it from
 * work, else once an interval; never twice at the same time, and no more than `maxConcurrent` in all, urgent ones first.
 * The load of engines is asked for in the same rounds, and between them where those are rare. Has no timers: the app calls `tick` every 250 ms, and in the tick of a registration. O(workers) a tick.
 */
export class ProbeSchedule {
  readonly #options: ProbeScheduleOptions;
  readonly #maxConcurrent: number;
  readonly #subjects = new Map<string, Subject>();
  #due: Subject[] = [];
  #running = 0;
  #stopped = false;

  constructor(options: ProbeScheduleOptions) {
    this.#options = options;
    this.#maxConcurrent = options.maxConcurrent ?? 64;
  }

  /** Starts the rounds that are due and calls off those of workers that are gone. */
  tick(): void {
    if (this.#stopped) return;
    this.#reconcile();
    const now = this.#options.monotonicMs();
    this.#due = [...this.#subjects.values()].filter((subject) => subject.running === null && (dueAtMs(subject) <= now || this.#loadDueAtMs(subject) <= now));
    this.#due.sort((a, b) => Number(b.target.urgent) - Number(a.target.urgent) || dueAtMs(a) - dueAtMs(b));
    this.#fill();
  }

  /** Calls off every round; nothing is reported any more. */
  stop(): void {
    this.#stopped = true;
    this.#due = [];
    for (const { running } of this.#subjects.values()) running?.abort();
    this.#subjects.clear();
  }

  #reconcile(): void {
    const present = new Set<string>();
    for (const target of this.#options.targets()) {
      present.add(target.workerId);
      const known = this.#subjects.get(target.workerId);
      if (known) known.target = target;
      else this.#subjects.set(target.workerId, { target, leftAtMs: null, intervalMs: this.#nextIntervalMs(), loadAskedAtMs: -Infinity, running: null });
    }
    for (const [workerId, { running }] of this.#subjects) {
      if (present.has(workerId)) continue;
      running?.abort();
      this.#subjects.delete(workerId);
    }
  }

  #fill(): void {
    while (this.#running < this.#maxConcurrent) {
      const subject = this.#due.shift();
      if (!subject) return;
      if (this.#subjects.get(subject.target.workerId) !== subject) continue;
      void (dueAtMs(subject) <= this.#options.monotonicMs() ? this.#round(subject) : this.#askLoad(subject));
    }
  }

  async #round(subject: Subject): Promise<void> {
    const { workerId, endpoint } = subject.target;
    const off = new AbortController();
    const startedAtMs = this.#options.monotonicMs();
    const asksLoad = this.#asksLoad(subject, startedAtMs);
    subject.running = off;
    subject.leftAtMs = startedAtMs;
    subject.intervalMs = this.#nextIntervalMs();
    if (asksLoad) subject.loadAskedAtMs = startedAtMs;
    this.#running += 1;
    const result = await this.#options.prober.probe(endpoint, { what: asksLoad ? [...allFacts, 'load'] : allFacts, signal: off.signal });
    this.#running -= 1;
    subject.running = null;
    if (!off.signal.aborted && this.#subjects.get(workerId) === subject) {
      const { health, status, version, models, startedAtSecs } = result;
      this.#options.report(workerId, {
        startedAtMs,
        healthy: health === 'ok',
        refused: health === 'refused',
        health,
        status,
        version,
        models: models?.map(({ id }) => id) ?? null,
        modelEntries: models,
        startedAtSecs,
      });
      if (result.load !== null) this.#options.reportLoad(workerId, result.load);
    }
    this.#fill();
  }

  /** Only the load, where health is not due for long. */
  async #askLoad(subject: Subject): Promise<void> {
    const { workerId, endpoint } = subject.target;
    const off = new AbortController();
    subject.running = off;
    subject.loadAskedAtMs = this.#options.monotonicMs();
    this.#running += 1;
    const { load } = await this.#options.prober.metrics(endpoint, true, off.signal);
    this.#running -= 1;
    subject.running = null;
    if (load !== null && !off.signal.aborted && this.#subjects.get(workerId) === subject) this.#options.reportLoad(workerId, load);
    this.#fill();
  }

  #asksLoad({ target, loadAskedAtMs }: Subject, nowMs: number): boolean {
    const { loadIntervalMs } = this.#options;
    if (loadIntervalMs === null) return false;
    return nowMs - loadAskedAtMs >= (target.leaving ? leavingIntervalMs : loadIntervalMs) * (1 - loadSlack);
  }

  /** When the engine is asked for its load alone: not where a round comes about then anyway. */
  #loadDueAtMs({ target, intervalMs, loadAskedAtMs }: Subject): number {
    const { loadIntervalMs } = this.#options;
    if (loadIntervalMs === null || target.urgent) return Infinity;
    if (target.leaving) return loadAskedAtMs + leavingIntervalMs;
    return loadAskedAtMs + loadIntervalMs * (intervalMs <= loadIntervalMs * (1 + loadSlack) ? 1 + loadSlack : 1);
  }

  #nextIntervalMs(): number {
    return this.#options.intervalMs * (1 - jitter + 2 * jitter * this.#options.random());
  }
}

function dueAtMs({ target, leftAtMs, intervalMs }: Subject): number {
  if (leftAtMs === null) return -Infinity;
  return leftAtMs + (target.urgent ? Math.min(urgentIntervalMs, intervalMs) : intervalMs);
}
