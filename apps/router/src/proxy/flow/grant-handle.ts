import { type AttemptOutcome, type GrantId, type Revocation, type SchedulerPort } from '@switchyard/core';

/** Revocations of grants that are still on their way to their receiver; more than that many are never under way. */
const earlyLimit = 1024;

/** Brings revocations to the handles they concern, also when one overtakes its grant. */
export class GrantBook {
  readonly #port: SchedulerPort;
  readonly #handles = new Map<GrantId, GrantHandle>();
  readonly #early = new Map<GrantId, Revocation>();

  constructor(port: SchedulerPort) {
    this.#port = port;
    port.onRevoked((revocation) => {
      const handle = this.#handles.get(revocation.grantId);
      if (handle !== undefined) {
        handle.revoke(revocation);
        return;
      }
      this.#early.set(revocation.grantId, revocation);
      if (this.#early.size > earlyLimit) {
        const [oldest] = this.#early.keys();
        if (oldest !== undefined) this.#early.delete(oldest);
      }
    });
  }

  /** The handle of a grant that was just received. Whoever opens it ends it. */
  open(grantId: GrantId): GrantHandle {
    const handle = new GrantHandle(this.#port, grantId, () => this.#handles.delete(grantId));
    this.#handles.set(grantId, handle);
    const early = this.#early.get(grantId);
    if (early !== undefined) {
      this.#early.delete(grantId);
      handle.revoke(early);
    }
    return handle;
  }
}

/** Owns one grant: whatever path a request takes, `end` reaches the scheduler exactly once. */
export class GrantHandle implements Disposable {
  readonly grantId: GrantId;
  readonly #port: SchedulerPort;
  readonly #forget: () => void;
  #open = true;
  #revocation: Revocation | null = null;
  #onAbort: (() => void) | null = null;

  constructor(port: SchedulerPort, grantId: GrantId, forget: () => void) {
    this.#port = port;
    this.grantId = grantId;
    this.#forget = forget;
  }

  /** No engine call may begin for this grant any more. */
  get revoked(): boolean {
    return this.#revocation !== null;
  }

  /** Running engine calls of this grant must end as well. */
  get aborted(): boolean {
    return this.#revocation?.abortRunning === true;
  }

  /** Replaces the way to stop a running call; called at once when that is due already. */
  onAbort(listener: () => void): void {
    this.#onAbort = listener;
    if (this.aborted) listener();
  }

  revoke(revocation: Revocation): void {
    if (this.#revocation === null || revocation.abortRunning) this.#revocation = revocation;
    if (revocation.abortRunning) this.#onAbort?.();
  }

  end(outcome: AttemptOutcome): void {
    if (!this.#open) return;
    this.#open = false;
    this.#forget();
    this.#onAbort = null;
    void this.#port.end(this.grantId, outcome);
  }

  /** The net below every path: an attempt that ends without an outcome ends as cancelled. */
  [Symbol.dispose](): void {
    this.end({ phase: 'single', result: 'cancelled', status: null, fault: null, timings: { prefillMs: null, handoffMs: null, firstByteMs: null } });
  }
}
