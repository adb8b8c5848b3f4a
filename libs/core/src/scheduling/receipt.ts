import { type CandidateScores } from '../policies/policy.js';
import { type ExclusionReason, type Phase, type PlacementReason } from '../words.js';
import { type Worker } from '../workers/worker.js';
import { type Failures } from './failures.js';

/** What a receipt shows of one candidate. */
export interface CandidateView {
  readonly id: string;
  readonly load: number;
  readonly pressure: number;
  readonly turn: number;
  /** Leases begun on it before this placement. */
  readonly processed: number;
  /** Bytes of the prompt's prefix it was believed to hold. */
  readonly matchBytes: number;
  readonly score: number | null;
  readonly excluded?: ExclusionReason;
}

/** Load, pressure, turn, processed, matched bytes. */
const countColumns = 5;

/** Storage for the numbers of one receipt over up to `capacity` workers. */
interface ReceiptColumns {
  readonly capacity: number;
  readonly counts: Uint32Array;
  /** NaN = none. */
  readonly scores: Float64Array;
}

/**
 * Hands the storage of forgotten receipts to new ones: over a large pool a receipt takes kilobytes, and making and
 * collecting buffers of that size costs more than the placement.
 */
export class ReceiptStorage {
  readonly #free = new Map<number, ReceiptColumns[]>();

  /** For a receipt over `workers` workers; holds leftovers. */
  take(workers: number): ReceiptColumns {
    let capacity = 8;
    while (capacity < workers) capacity *= 2;
    return (
      this.#free.get(capacity)?.pop() ?? { capacity, counts: new Uint32Array(capacity * countColumns), scores: new Float64Array(capacity) }
    );
  }

  /** Takes the storage of a receipt that nobody can see any more. */
  giveBack(receipt: AttemptReceipt): void {
    const columns = receipt.forget();
    if (columns === null) return;
    const free = this.#free.get(columns.capacity);
    if (free === undefined) this.#free.set(columns.capacity, [columns]);
    else if (free.length < keptFree) free.push(columns);
  }
}

/** Buffers of one size that wait for a receipt; each placement takes about as many as the request log gives back. */
const keptFree = 64;

/**
 * The recorded explanation of one choice. Numbers are copied into flat arrays when the choice is made and only turned
 * into objects when somebody looks: a placement over 200 workers must not allocate 200 objects.
 */
export class AttemptReceipt {
  readonly phase: Phase;
  readonly chosen: string;
  readonly reason: PlacementReason;
  readonly margin: number | null;
  /** Bytes of the prompt the chosen worker was believed to hold. */
  readonly chosenMatchBytes: number;
  outcome: string | null = null;
  readonly #pool: readonly Worker[];
  #columns: ReceiptColumns | null;
  readonly #excluded: ReadonlyMap<Worker, ExclusionReason>;

  constructor(
    phase: Phase,
    choice: { readonly worker: Worker; readonly reason: PlacementReason; readonly margin: number | null; readonly scores: CandidateScores<Worker> | null },
    pool: readonly Worker[],
    excluded: ReadonlyMap<Worker, ExclusionReason>,
    storage: ReceiptStorage,
  ) {
    const { scores } = choice;
    this.phase = phase;
    this.chosen = choice.worker.id;
    this.reason = choice.reason;
    this.margin = choice.margin;
    this.#pool = pool;
    this.#excluded = excluded;
    this.#columns = storage.take(pool.length);
    const { counts, scores: kept } = this.#columns;
    const someExcluded = excluded.size > 0;
    let at = 0;
    let position = 0;
    for (const worker of pool) {
      const scored = scores !== null && !(someExcluded && excluded.has(worker));
      counts[at] = worker.load;
      counts[at + 1] = worker.pressure;
      counts[at + 2] = worker.turn;
      counts[at + 3] = worker.processed;
      counts[at + 4] = scored ? scores.matchBytes(worker) : 0;
      kept[position] = scored ? (scores.score(worker) ?? NaN) : NaN;
      at += countColumns;
      position += 1;
    }
    this.chosenMatchBytes = scores?.matchBytes(choice.worker) ?? 0;
  }

  /** One entry a worker of the pool, in pool order; none once the receipt is forgotten. */
  get candidates(): CandidateView[] {
    const columns = this.#columns;
    if (columns === null) return [];
    const { counts, scores } = columns;
    return this.#pool.map((worker, position) => {
      const at = position * countColumns;
      const score = scores[position] ?? NaN;
      const excluded = this.#excluded.get(worker);
      return {
        id: worker.id,
        load: counts[at] ?? 0,
        pressure: counts[at + 1] ?? 0,
        turn: counts[at + 2] ?? 0,
        processed: counts[at + 3] ?? 0,
        matchBytes: counts[at + 4] ?? 0,
        score: Number.isNaN(score) ? null : score,
        ...(excluded === undefined ? {} : { excluded }),
      };
    });
  }

  /** Gives up what the candidates looked like; returns its storage, once. */
  forget(): ReceiptColumns | null {
    const columns = this.#columns;
    this.#columns = null;
    return columns;
  }
}

/** Why each worker of `pool` that is not among `candidates` was left out; empty when none was. Costs O(pool). */
export function exclusions(
  pool: readonly Worker[],
  candidates: readonly Worker[],
  model: string | null,
  failures: Failures,
): ReadonlyMap<Worker, ExclusionReason> {
  const excluded = new Map<Worker, ExclusionReason>();
  if (candidates.length === pool.length) return excluded;
  const considered = new Set(candidates);
  for (const worker of pool) {
    if (considered.has(worker)) continue;
    excluded.set(worker, failures.workers.has(worker) ? 'already_failed' : exclusionOf(worker, model, failures));
  }
  return excluded;
}

function exclusionOf(worker: Worker, model: string | null, failures: Failures): ExclusionReason {
  const [unselectable] = worker.unselectableBecause;
  if (unselectable !== undefined) return unselectable;
  if (!worker.serves(model)) return 'wrong_model';
  return failures.wasInFailedPair(worker) ? 'failed_pair' : 'incompatible_group';
}
