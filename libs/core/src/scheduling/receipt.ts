import { type CandidateScores } from '../policies/policy.js';
import { type ExclusionReason, type Phase, type PlacementReason } from '../words.js';
import { type Worker } from '../workers/worker.js';

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

const columns = 5;

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
  readonly #numbers: Float64Array;
  readonly #scores: readonly (number | null)[] | null;
  readonly #excluded: ReadonlyMap<Worker, ExclusionReason>;

  constructor(
    phase: Phase,
    choice: { readonly worker: Worker; readonly reason: PlacementReason; readonly margin: number | null; readonly scores: CandidateScores<Worker> | null },
    pool: readonly Worker[],
    excluded: ReadonlyMap<Worker, ExclusionReason>,
  ) {
    const { scores } = choice;
    this.phase = phase;
    this.chosen = choice.worker.id;
    this.reason = choice.reason;
    this.margin = choice.margin;
    this.#pool = pool;
    this.#excluded = excluded;
    this.#numbers = new Float64Array(pool.length * columns);
    this.#scores = scores === null ? null : pool.map((worker) => (excluded.has(worker) ? null : scores.score(worker)));
    let at = 0;
    for (const worker of pool) {
      this.#numbers[at] = worker.load;
      this.#numbers[at + 1] = worker.pressure;
      this.#numbers[at + 2] = worker.turn;
      this.#numbers[at + 3] = worker.processed;
      this.#numbers[at + 4] = scores === null || excluded.has(worker) ? 0 : scores.matchBytes(worker);
      at += columns;
    }
    this.chosenMatchBytes = scores?.matchBytes(choice.worker) ?? 0;
  }

  get candidates(): CandidateView[] {
    return this.#pool.map((worker, position) => {
      const at = position * columns;
      const excluded = this.#excluded.get(worker);
      return {
        id: worker.id,
        load: this.#numbers[at] ?? 0,
        pressure: this.#numbers[at + 1] ?? 0,
        turn: this.#numbers[at + 2] ?? 0,
        processed: this.#numbers[at + 3] ?? 0,
        matchBytes: this.#numbers[at + 4] ?? 0,
        score: this.#scores?.[position] ?? null,
        ...(excluded === undefined ? {} : { excluded }),
      };
    });
  }
}

/** Why each worker of `pool` that is not among `candidates` was left out; empty when none was. Costs O(pool). */
export function exclusions(
  pool: readonly Worker[],
  candidates: readonly Worker[],
  model: string | null,
  alreadyFailed: ReadonlySet<Worker>,
): ReadonlyMap<Worker, ExclusionReason> {
  const excluded = new Map<Worker, ExclusionReason>();
  if (candidates.length === pool.length) return excluded;
  const considered = new Set(candidates);
  for (const worker of pool) {
    if (considered.has(worker)) continue;
    excluded.set(worker, alreadyFailed.has(worker) ? 'already_failed' : exclusionOf(worker, model));
  }
  return excluded;
}

function exclusionOf(worker: Worker, model: string | null): ExclusionReason {
  const [unselectable] = worker.unselectableBecause;
  if (unselectable !== undefined) return unselectable;
  return worker.serves(model) ? 'incompatible_group' : 'wrong_model';
}
