import { type Fleet } from '../pools/fleet.js';
import { type RolePool } from '../pools/role-pool.js';
import { type ExclusionReason } from '../words.js';
import { type Worker } from '../workers/worker.js';
import { type Failures, noFailures } from './failures.js';
import { exclusions } from './receipt.js';

/** Distinct model names whose candidate lists are kept at a time. */
const keptModels = 256;

type Eligible = (worker: Worker) => boolean;

/** Eligible workers for one model, in pool order. */
export class ModelCandidates {
  /** Prefill workers that can be paired with at least one of `decode`. */
  readonly prefill: readonly Worker[];
  readonly regular: readonly Worker[];
  /** For single-worker requests, paired or not; the preferred role first. */
  readonly singles: readonly (readonly Worker[])[];
  /** Decode workers, paired or not. */
  readonly #decode: readonly Worker[];
  readonly #decodeFor = new Map<Worker, readonly Worker[]>();
  readonly #model: string | null;
  readonly #failures: Failures;
  readonly #exclusions = new Map<readonly Worker[], ReadonlyMap<Worker, ExclusionReason>>();

  /** Of the workers that are `eligible` for `model`, in pairs that have not failed; `failures` says why some are not. */
  constructor(fleet: Fleet, model: string | null, eligible: Eligible, failures = noFailures) {
    this.#model = model;
    this.#failures = failures;
    const of = (pool: RolePool): Worker[] => pool.workers.filter(eligible);
    const prefill = of(fleet.pools.prefill);
    const decode = of(fleet.pools.decode);
    this.prefill = prefill.filter((worker) => decode.some((other) => this.#mayPair(worker, other)));
    this.regular = of(fleet.pools.regular);
    this.singles = [this.regular, decode, prefill];
    this.#decode = decode;
  }

  /**
   * Decode workers that pair with `prefill`, whether or not it may take new work itself; never empty for one of the
   * prefill candidates.
   */
  decodeFor(prefill: Worker): readonly Worker[] {
    let partners = this.#decodeFor.get(prefill);
    if (partners === undefined) {
      const paired = this.#decode.filter((worker) => this.#mayPair(prefill, worker));
      partners = paired.length === this.#decode.length ? this.#decode : paired;
      this.#decodeFor.set(prefill, partners);
    }
    return partners;
  }

  /** Why each worker of `pool` that is not among `candidates`, one of these lists, was left out. Costs O(pool) once. */
  exclusionsFrom(pool: RolePool, candidates: readonly Worker[]): ReadonlyMap<Worker, ExclusionReason> {
    let excluded = this.#exclusions.get(candidates);
    if (excluded === undefined) {
      excluded = exclusions(pool.workers, candidates, this.#model, this.#failures);
      this.#exclusions.set(candidates, excluded);
    }
    return excluded;
  }

  #mayPair(prefill: Worker, decode: Worker): boolean {
    return prefill.pairsWith(decode) && !this.#failures.hasFailedPair(prefill, decode);
  }
}

function selectableFor(model: string | null): Eligible {
  return (worker) => worker.selectable && worker.serves(model);
}

/** Whether a request of either shape could be placed on these. */
export function canGenerate(candidates: ModelCandidates): boolean {
  return candidates.prefill.length > 0 || candidates.regular.length > 0;
}

/** Lists of candidates by model, kept until the fleet's selection version moves. */
export class Candidates {
  readonly #fleet: Fleet;
  readonly #byModel = new Map<string | null, ModelCandidates>();
  #version = -1;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Costs O(1) while nothing changes, else O(workers). */
  forModel(model: string | null): ModelCandidates {
    if (this.#version !== this.#fleet.selectionVersion) {
      this.#version = this.#fleet.selectionVersion;
      this.#byModel.clear();
    }
    let candidates = this.#byModel.get(model);
    if (candidates === undefined) {
      // Clients may ask for any name: a flood of them must not grow this.
      if (this.#byModel.size >= keptModels) this.#byModel.clear();
      candidates = new ModelCandidates(this.#fleet, model, selectableFor(model));
      this.#byModel.set(model, candidates);
    }
    return candidates;
  }

  /** The same without workers that failed, in whatever pair; not kept. */
  without(model: string | null, failures: Failures): ModelCandidates {
    if (failures.none) return this.forModel(model);
    const eligible = selectableFor(model);
    return new ModelCandidates(this.#fleet, model, (worker) => !failures.hasFailed(worker) && eligible(worker), failures);
  }

  /**
   * The last resort when those do not suffice: a decode worker that failed on a hand-off may have failed for the prefill
   * engine's sake, so it counts again, with other prefill workers. Not kept.
   */
  repaired(model: string | null, failures: Failures): ModelCandidates {
    const eligible = selectableFor(model);
    return new ModelCandidates(this.#fleet, model, (worker) => !failures.workers.has(worker) && eligible(worker), failures);
  }

  /** What there would be as a last resort if all pending probes came back good. */
  afterProbes(model: string | null, failures: Failures): ModelCandidates {
    return new ModelCandidates(
      this.#fleet,
      model,
      (worker) => !failures.workers.has(worker) && (worker.selectable || worker.awaitsProbe) && worker.serves(model),
      failures,
    );
  }
}
