import { type AttemptOutcome, type GrantId, type Phase, type Revocation, type SchedulerPort } from '@switchyard/core';
import { LRUCache } from 'lru-cache';

/** Revocations of grants that are still on their way to their receiver; more than that many are never under way. */
const earlyLimit = 1024;

/** Told of what must never happen, and of what the scheduler refuses; both are faults of ours. */
export interface GrantFaults {
  /** A handle was lost without being ended; its grant has been ended now. */
  lost(grantId: GrantId): void;
  /** The scheduler threw on a call nobody waits for. */
  failed(error: unknown): void;
}

/** Brings revocations to the handles they concern, also when one overtakes its grant. */
export class GrantBook {
  readonly #port: SchedulerPort;
  readonly #faults: GrantFaults;
  // Weak, so that a handle its owner has lost can be collected, and its grant ended by the net below.
  readonly #handles = new Map<GrantId, WeakRef<GrantHandle>>();
  readonly #early = new LRUCache<GrantId, Revocation>({ max: earlyLimit });
  readonly #lost: FinalizationRegistry<GrantId>;

  constructor(port: SchedulerPort, faults: GrantFaults) {
    this.#port = port;
    this.#faults = faults;
    this.#lost = new FinalizationRegistry((grantId) => {
      this.#handles.delete(grantId);
      faults.lost(grantId);
      this.#send(port.end(grantId, lostOutcome));
    });
    port.onRevoked((revocation) => {
      const handle = this.#handles.get(revocation.grantId)?.deref();
      if (handle !== undefined) {
        handle.revoke(revocation);
        return;
      }
      this.#early.set(revocation.grantId, revocation);
    });
  }

  /** The handle of a grant that was just received. Whoever opens it ends it. */
  open(grantId: GrantId): GrantHandle {
    const handle: GrantHandle = new GrantHandle(grantId, {
      end: (outcome) => {
        this.#handles.delete(grantId);
        this.#lost.unregister(token);
        this.#send(this.#port.end(grantId, outcome));
      },
      firstByte: (phase) => this.#send(this.#port.firstByte(grantId, phase)),
    });
    // The handle itself as token would do, but the closure above must not hold it.
    const token = {};
    this.#handles.set(grantId, new WeakRef(handle));
    this.#lost.register(handle, grantId, token);
    const early = this.#early.get(grantId);
    if (early !== undefined) {
      this.#early.delete(grantId);
      handle.revoke(early);
    }
    return handle;
  }

  #send(call: Promise<void>): void {
    call.catch((error: unknown) => this.#faults.failed(error));
  }
}

/** How a handle reaches the scheduler; neither call is waited for. */
interface GrantCalls {
  end(outcome: AttemptOutcome): void;
  firstByte(phase: Phase): void;
}

const lostOutcome: AttemptOutcome = {
  phase: 'single',
  result: 'cancelled',
  status: null,
  fault: null,
  timings: { prefillMs: null, handoffMs: null, firstByteMs: null },
};

/** Owns one grant: whatever path a request takes, `end` reaches the scheduler exactly once. */
export class GrantHandle implements Disposable {
  readonly grantId: GrantId;
  readonly #calls: GrantCalls;
  #open = true;
  #revocation: Revocation | null = null;
  #onAbort: (() => void) | null = null;

  constructor(grantId: GrantId, calls: GrantCalls) {
    this.grantId = grantId;
    this.#calls = calls;
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

  /** The first body byte of a good answer has come. */
  firstByte(phase: Phase): void {
    if (this.#open) this.#calls.firstByte(phase);
  }

  end(outcome: AttemptOutcome): void {
    if (!this.#open) return;
    this.#open = false;
    this.#onAbort = null;
    this.#calls.end(outcome);
  }

  /** The net below every path: an attempt that ends without an outcome ends as cancelled. */
  [Symbol.dispose](): void {
    this.end(lostOutcome);
  }
}
