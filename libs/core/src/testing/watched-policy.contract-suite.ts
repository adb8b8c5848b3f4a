import { type AffinityClaim, type CandidateScores, type Policy, type PolicyChoice, type PolicyRequest } from '../policies/policy.js';
import { type PolicyName } from '../words.js';
import { type Worker } from '../workers/worker.js';

/** A claim as the scheduler got it, and what it did with it. */
export interface WatchedClaim {
  readonly worker: Worker;
  ended: 'confirmed' | 'withdrawn' | null;
}

/** A policy that checks how it is used: only members are candidates, and each claim ends once. */
export class WatchedPolicy implements Policy<Worker> {
  readonly inner: Policy<Worker>;
  readonly members = new Set<Worker>();
  readonly #claims: WatchedClaim[];

  /** Every claim is added to `claims`, in order. */
  constructor(inner: Policy<Worker>, claims: WatchedClaim[]) {
    this.inner = inner;
    this.#claims = claims;
  }

  get name(): PolicyName {
    return this.inner.name;
  }

  join(worker: Worker): void {
    this.members.add(worker);
    this.inner.join(worker);
  }

  leave(worker: Worker): void {
    this.members.delete(worker);
    this.inner.leave(worker);
  }

  forget(worker: Worker): void {
    this.inner.forget(worker);
  }

  select(candidates: readonly Worker[], request: PolicyRequest): (PolicyChoice<Worker> & { readonly scores: CandidateScores<Worker> | null }) | undefined {
    for (const candidate of candidates) if (!this.members.has(candidate)) throw new Error(`${candidate.id} is a candidate but no member`);
    return this.inner.select(candidates, request);
  }

  commit(worker: Worker, request: PolicyRequest): AffinityClaim {
    const claim = this.inner.commit(worker, request);
    const watched: WatchedClaim = { worker, ended: null };
    this.#claims.push(watched);
    const end = (how: 'confirmed' | 'withdrawn'): void => {
      if (watched.ended !== null) throw new Error(`a claim on ${worker.id} was ${watched.ended} and then ${how}`);
      watched.ended = how;
    };
    return {
      confirm: () => {
        end('confirmed');
        claim?.confirm();
      },
      withdraw: () => {
        end('withdrawn');
        claim?.withdraw();
      },
    };
  }
}
