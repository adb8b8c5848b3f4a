import { type Policy } from '../policies/policy.js';
import { type Role } from '../words.js';
import { type Worker } from '../workers/worker.js';

/** The workers of one role, and the policy that chooses among them: members of one are members of the other. */
export class RolePool {
  readonly role: Role;
  #policy: Policy<Worker>;
  #workers: readonly Worker[] = [];
  readonly #selectable = new Set<Worker>();
  /** Where the pool's virtual time stood when its last selectable worker went. */
  #lastTurn = 0;

  constructor(role: Role, policy: Policy<Worker>) {
    this.role = role;
    this.#policy = policy;
  }

  /** In order of joining; a new array with every change of membership, so that receipts may keep it. */
  get workers(): readonly Worker[] {
    return this.#workers;
  }

  get policy(): Policy<Worker> {
    return this.#policy;
  }

  get selectableCount(): number {
    return this.#selectable.size;
  }

  /** Makes the worker known to the policy before it can be selected. */
  add(worker: Worker): void {
    this.#policy.join(worker);
    this.openModels(worker);
    this.#workers = [...this.#workers, worker];
    this.refresh(worker);
  }

  /** Ends membership and all affinity. */
  remove(worker: Worker): void {
    this.#workers = this.#workers.filter((other) => other !== worker);
    this.#unselectable(worker);
    this.#policy.leave(worker);
  }

  /** Makes the models that a member is known to serve known to the policy before a request names them. */
  openModels(worker: Worker): void {
    for (const model of worker.models ?? []) this.#policy.openModel?.(model);
  }

  /**
   * Notes whether a member is selectable now; `true` when that changed. One that becomes selectable starts no earlier
   * in virtual time than the others stand (lifecycle rule 12), so what it missed is not made up for.
   */
  refresh(worker: Worker): boolean {
    const now = worker.selectable && worker.departure === null;
    if (now === this.#selectable.has(worker)) return false;
    if (!now) {
      this.#unselectable(worker);
      return true;
    }
    let smallestTurn = this.#selectable.size === 0 ? this.#lastTurn : Infinity;
    for (const other of this.#selectable) smallestTurn = Math.min(smallestTurn, other.turn);
    worker.turn = Math.max(worker.turn, smallestTurn);
    this.#selectable.add(worker);
    return true;
  }

  /** Puts another policy in charge; affinity of the old one is not carried over. */
  setPolicy(policy: Policy<Worker>): void {
    this.#policy = policy;
    for (const worker of this.#workers) {
      policy.join(worker);
      this.openModels(worker);
    }
  }

  /** A pool that empties keeps its virtual time: the next one to come must not look as if all others were far ahead. */
  #unselectable(worker: Worker): void {
    if (this.#selectable.delete(worker) && this.#selectable.size === 0) this.#lastTurn = Math.max(this.#lastTurn, worker.turn);
  }
}
