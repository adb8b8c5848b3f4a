import { type Cluster } from '../cluster.js';
import { type HandoffView } from '../contracts/handoff.schema.js';
import { type LiveChange, type LiveDelta, type LiveSnapshot, type LiveState } from '../contracts/live.schema.js';
import { type OverviewNow } from '../contracts/overview.schema.js';
import { type PoolsView, type WorkerView } from '../contracts/worker.schema.js';
import { type TrafficHistory } from '../scheduling/traffic-history.js';
import { handoffViews } from './handoff.view.js';
import { overviewNow } from './overview.view.js';
import { workersView } from './worker.view.js';

/** Some of what viewers see changes by time alone, and a silent stream must not look like a dead one. */
const refreshAtLeastMs = 1_000;

/** A part of the state and the number of the state in which it last changed. */
interface Part<T> {
  readonly value: T;
  readonly changedSeq: number;
}

/** A part with ages inside, and the moment they are of. */
interface AgingPart<T> extends Part<T> {
  readonly listeningMs: number;
  readonly monotonicMs: number;
}

/**
 * The picture that all viewers of the live stream are on, and the way to it from any picture they had before. It is
 * computed once for all of them. Ages inside it are of the moment at which what has them last changed; they are brought
 * up to date where they are sent later.
 */
export class LiveBoard {
  readonly #cluster: Cluster;
  readonly #traffic: TrafficHistory;
  readonly #workers = new Map<string, AgingPart<WorkerView>>();
  /** Workers that went, oldest first: known as long as some viewer may still show them. */
  #gone: { readonly id: string; readonly seq: number }[] = [];
  #pools: Part<PoolsView> | null = null;
  #overview: Part<OverviewNow> | null = null;
  #handoffs: AgingPart<readonly HandoffView[]> = { value: [], changedSeq: 0, listeningMs: 0, monotonicMs: 0 };
  #seq = 0;
  #seenSeq = -1;
  #refreshedAtMs = -Infinity;

  constructor(cluster: Cluster, traffic: TrafficHistory) {
    this.#cluster = cluster;
    this.#traffic = traffic;
  }

  /** Number of the picture. */
  get seq(): number {
    return this.#seq;
  }

  /**
   * Brings the picture up to date; `true` when it changed, and so did its number. Costs O(workers × models) when the
   * cluster has changed since the last time or that is a second ago, else O(1).
   */
  refresh(): boolean {
    const nowMs = this.#cluster.clock.monotonicMs();
    if (this.#cluster.seq === this.#seenSeq && nowMs - this.#refreshedAtMs < refreshAtLeastMs) return false;
    const { workers, pools } = workersView(this.#cluster);
    const overview = overviewNow(this.#cluster, this.#traffic);
    const handoffs = handoffViews(this.#cluster);

    const present = new Set(workers.map(({ id }) => id));
    const gone = [...this.#workers.keys()].filter((id) => !present.has(id));
    const changed = workers.filter((view) => {
      const known = this.#workers.get(view.id);
      return known === undefined || !same(known.value, view) || readAgain(known, view, nowMs);
    });
    const poolsChanged = this.#pools === null || !same(this.#pools.value, pools);
    const overviewChanged = this.#overview === null || nowMs - this.#refreshedAtMs >= refreshAtLeastMs || !same(this.#overview.value, overview);
    const handoffsChanged = !same(this.#handoffs.value, handoffs);
    const anything = gone.length > 0 || changed.length > 0 || poolsChanged || overviewChanged || handoffsChanged;
    if (anything) {
      const seq = this.#cluster.seq > this.#seq ? this.#cluster.seq : this.#cluster.advanceSeq();
      this.#seq = seq;
      for (const id of gone) {
        this.#workers.delete(id);
        this.#gone.push({ id, seq });
      }
      const now = { changedSeq: seq, listeningMs: this.#cluster.listeningClock.nowMs, monotonicMs: nowMs };
      for (const value of changed) this.#workers.set(value.id, { value, ...now });
      if (poolsChanged) this.#pools = { value: pools, changedSeq: seq };
      if (overviewChanged) {
        this.#overview = { value: overview, changedSeq: seq };
        this.#refreshedAtMs = nowMs;
      }
      if (handoffsChanged) this.#handoffs = { value: handoffs, ...now };
    }
    this.#seenSeq = this.#cluster.seq;
    return anything;
  }

  /** The whole picture. Throws before the first `refresh`. */
  snapshot(): LiveSnapshot {
    if (this.#pools === null || this.#overview === null) throw new Error('a live snapshot before the first refresh');
    const state: LiveState = {
      workers: [...this.#workers.values()].map((part) => this.#worker(part)),
      pools: this.#pools.value,
      overview: this.#overview.value,
      handoffs: this.#agedHandoffs(),
    };
    return { seq: this.#seq, state };
  }

  /** What leads from the picture numbered `from` to this one. O(workers). */
  delta(from: number): LiveDelta {
    const changes: LiveChange[] = [];
    for (const { id, seq } of this.#gone) if (seq > from) changes.push({ op: 'del', id });
    for (const part of this.#workers.values()) if (part.changedSeq > from) changes.push({ op: 'set', worker: this.#worker(part) });
    if (this.#pools !== null && this.#pools.changedSeq > from) changes.push({ op: 'pools', pools: this.#pools.value });
    if (this.#overview !== null && this.#overview.changedSeq > from) changes.push({ op: 'overview', overview: this.#overview.value });
    if (this.#handoffs.changedSeq > from) changes.push({ op: 'handoffs', handoffs: this.#agedHandoffs() });
    return { from, seq: this.#seq, changes };
  }

  /** No viewer has a picture older than `seq` any more. */
  forget(seq: number): void {
    this.#gone = this.#gone.filter((one) => one.seq > seq);
  }

  #worker({ value, listeningMs, monotonicMs }: AgingPart<WorkerView>): WorkerView {
    const listenedMs = this.#cluster.listeningClock.nowMs - listeningMs;
    const { heartbeatAgeMs, expiresInMs, engine } = value;
    return {
      ...value,
      heartbeatAgeMs: heartbeatAgeMs === null ? null : heartbeatAgeMs + listenedMs,
      expiresInMs: expiresInMs === null ? null : Math.max(0, expiresInMs - listenedMs),
      engine: engine === null || engine.ageMs === null ? engine : { ...engine, ageMs: engine.ageMs + this.#elapsedMs(monotonicMs) },
    };
  }

  #agedHandoffs(): HandoffView[] {
    const elapsedMs = this.#elapsedMs(this.#handoffs.monotonicMs);
    return this.#handoffs.value.map((handoff) => ({ ...handoff, ageMs: handoff.ageMs + elapsedMs }));
  }

  #elapsedMs(sinceMs: number): number {
    return this.#cluster.clock.monotonicMs() - sinceMs;
  }
}

/** Members that change by time alone. What they count from is told by others. */
const ages: ReadonlySet<string> = new Set(['heartbeatAgeMs', 'expiresInMs', 'ageMs']);

/** Whether the engine was read since: its age starts anew, though it may have told the same. */
function readAgain({ value, monotonicMs }: AgingPart<WorkerView>, { engine }: WorkerView, nowMs: number): boolean {
  const [before, now] = [value.engine?.ageMs ?? null, engine?.ageMs ?? null];
  return now !== null && (before === null || now < before + (nowMs - monotonicMs) - 1);
}

/** Whether two values of JSON, of one shape, are equal but for ages. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, at) => same(item, b[at]));
  for (const name in a) {
    if (!ages.has(name) && !same(a[name as keyof typeof a], b[name as keyof typeof b])) return false;
  }
  return true;
}
