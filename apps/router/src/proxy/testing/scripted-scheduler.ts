import {
  type AttemptOutcome,
  type BeginDecodeResult,
  type ConnectorKind,
  type FailedPair,
  type GrantId,
  type HandoffFacts,
  type OpenRequest,
  type Phase,
  type PlacedWorker,
  type RequestClose,
  type ReserveRequest,
  type ReserveResult,
  type Revocation,
  type Role,
  type SchedulerPort,
  type Unavailable,
} from '@switchyard/core';

export interface ScriptedWorker {
  readonly id: string;
  readonly role: Role;
  readonly endpoint: string;
  readonly connector: ConnectorKind;
  readonly zmqAddress: string | null;
}

/**
 * A scheduler that takes the first worker that is not excluded and the first pair that has not failed, and keeps books so strict that a test sees every
 * grant that is lost, ended twice or used out of order.
 */
export class ScriptedScheduler implements SchedulerPort {
  workers: ScriptedWorker[] = [];
  /** Answers instead of the books, when set. */
  onReserve: ((request: ReserveRequest) => ReserveResult | undefined) | null = null;
  onBeginDecode: ((grantId: GrantId) => BeginDecodeResult | undefined) | null = null;
  /** Runs before the named step answers; may wait. */
  before: Partial<Record<'reserve' | 'prefillDone' | 'beginDecode', () => Promise<void> | void>> = {};
  readonly live = new Set<GrantId>();
  readonly outcomes: AttemptOutcome[] = [];
  readonly firstBytes: Phase[] = [];
  readonly handoffs: HandoffFacts[] = [];
  readonly excluded: (readonly string[])[] = [];
  readonly failedPairs: (readonly FailedPair[])[] = [];
  readonly opened: OpenRequest[] = [];
  readonly closed: RequestClose[] = [];
  readonly faults: string[] = [];
  readonly #pairs = new Map<GrantId, { early: boolean; prefill: string; decode: PlacedWorker | null; failedPairs: readonly FailedPair[] }>();
  readonly #revoked: ((revocation: Revocation) => void)[] = [];
  readonly #waiting = new Set<() => void>();
  #nextId = 1;

  add(role: Role, endpoint: string, more: { connector?: ConnectorKind; zmqAddress?: string } = {}): ScriptedWorker {
    const worker = { id: `${role}-${String(this.workers.length + 1)}`, role, endpoint, connector: more.connector ?? 'nixl', zmqAddress: more.zmqAddress ?? null };
    this.workers.push(worker);
    return worker;
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    this.excluded.push([...request.exclude]);
    this.failedPairs.push([...request.failedPairs]);
    await this.before.reserve?.();
    const scripted = this.onReserve?.(request);
    if (scripted !== undefined) {
      if (scripted.kind !== 'unavailable') this.live.add(scripted.grantId);
      return scripted;
    }
    const [pair] = this.#free('prefill', request.exclude).flatMap((prefill) => this.#partners(prefill.id, request).map((decode) => ({ prefill, decode })));
    if (pair !== undefined) {
      const { prefill, decode } = pair;
      const grantId = this.#grant();
      const early = prefill.connector !== 'nixl';
      this.#pairs.set(grantId, { early, prefill: prefill.id, decode: early ? placed(decode) : null, failedPairs: [...request.failedPairs] });
      return { kind: 'pair', grantId, prefill: placed(prefill), decode: early ? placed(decode) : null };
    }
    const [regular] = this.#free('regular', request.exclude);
    return regular === undefined ? this.unavailable() : { kind: 'single', grantId: this.#grant(), worker: placed(regular) };
  }

  async prefillDone(grantId: GrantId, handoff: HandoffFacts): Promise<void> {
    this.#check(grantId, 'prefillDone');
    this.handoffs.push(handoff);
    await this.before.prefillDone?.();
  }

  async beginDecode(grantId: GrantId, exclude: readonly string[], undelivered?: AttemptOutcome): Promise<BeginDecodeResult> {
    if (undelivered !== undefined) this.outcomes.push(undelivered);
    await this.before.beginDecode?.();
    const scripted = this.onBeginDecode?.(grantId);
    if (scripted !== undefined) return scripted;
    if (!this.live.has(grantId)) return { kind: 'stale', cause: 'prefill_departed' };
    const pair = this.#pairs.get(grantId);
    if (pair?.early === true && pair.decode !== null) {
      return undelivered === undefined ? { kind: 'decode', decode: pair.decode } : { kind: 'stale', cause: 'decode_departed' };
    }
    const [decode] = pair === undefined ? [] : this.#partners(pair.prefill, { exclude, failedPairs: pair.failedPairs });
    return decode === undefined ? this.unavailable() : { kind: 'decode', decode: placed(decode) };
  }

  firstByte(grantId: GrantId, phase: Phase): Promise<void> {
    this.#check(grantId, 'firstByte');
    this.firstBytes.push(phase);
    return Promise.resolve();
  }

  end(grantId: GrantId, outcome: AttemptOutcome): Promise<void> {
    this.#check(grantId, 'end');
    this.live.delete(grantId);
    this.outcomes.push(outcome);
    return Promise.resolve();
  }

  onRevoked(listener: (revocation: Revocation) => void): void {
    this.#revoked.push(listener);
  }

  revokeAll(cause: Revocation['cause'], abortRunning: boolean): void {
    for (const grantId of [...this.live]) {
      for (const listener of this.#revoked) listener({ grantId, workerId: 'any', cause, abortRunning });
    }
  }

  whenSelectable(listener: () => void): () => void {
    this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  selectable(): void {
    for (const listener of [...this.#waiting]) listener();
  }

  openRequest(request: OpenRequest): void {
    this.opened.push(request);
  }

  closeRequest(_requestKey: number, close: RequestClose): void {
    this.closed.push(close);
  }

  unavailable(more: Partial<Unavailable> = {}): Unavailable {
    const of = (role: Role) => ({ selectable: 0, total: this.workers.filter((worker) => worker.role === role).length });
    return {
      kind: 'unavailable',
      cause: 'no_available_workers',
      waitable: false,
      counts: { prefill: of('prefill'), decode: of('decode'), regular: of('regular'), group: null },
      ...more,
    };
  }

  #free(role: Role, exclude: readonly string[]): ScriptedWorker[] {
    return this.workers.filter((worker) => worker.role === role && !exclude.includes(worker.id));
  }

  #partners(prefill: string, { exclude, failedPairs }: Pick<ReserveRequest, 'exclude' | 'failedPairs'>): ScriptedWorker[] {
    return this.#free('decode', exclude).filter(({ id }) => !failedPairs.some((pair) => pair.prefill === prefill && pair.decode === id));
  }

  #grant(): GrantId {
    const grantId = this.#nextId++;
    this.live.add(grantId);
    return grantId;
  }

  #check(grantId: GrantId, step: string): void {
    if (!this.live.has(grantId)) this.faults.push(`${step} on grant ${String(grantId)}, which is not live`);
  }
}

function placed({ id, role, endpoint, connector, zmqAddress }: ScriptedWorker): PlacedWorker {
  return { workerId: id, role, endpoint, connector, zmqAddress, reason: 'only_candidate' };
}
