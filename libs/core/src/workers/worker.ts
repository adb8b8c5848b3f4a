import { type PolicyWorker } from '../policies/policy.js';
import { type Lifetime } from '../registry/lifetime.js';
import { type LeaveReason } from '../registry/service-registry.js';
import {
  type AdminState,
  type CircuitState,
  type ConnectorFlag,
  type ConnectorKind,
  type LeaseResult,
  type Role,
  type UnselectableReason,
} from '../words.js';
import { bindsEarly, type ConnectorKnowledge, connectorKnowledge, connectorSupported } from './connector-knowledge.js';
import { type EngineLoad } from './engine-load.js';
import { type HealthOptions, WorkerHealth } from './health.js';
import { WorkerLatency } from './latency.js';
import { type HoldRecord, type LeaseRecord } from './lease.js';

export interface WorkerOptions {
  readonly health: HealthOptions;
  readonly connector: ConnectorFlag;
}

/** How a worker left its pool. */
export interface Departure {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly reason: LeaveReason;
  /** Its engine process is proven gone, so its unfinished work cannot touch the machine any more. */
  readonly processGone: boolean;
}

/** The persistent scheduling identity of (role, endpoint, generation): everything it counts lives for one generation. */
export class Worker implements PolicyWorker {
  readonly id: string;
  readonly role: Role;
  readonly endpoint: string;
  readonly generation: number;
  readonly lifetime: Lifetime;
  readonly health: WorkerHealth;
  readonly latency = new WorkerLatency();
  /** Unix milliseconds. */
  readonly registeredAtMs: number;
  readonly leases = new Set<LeaseRecord>();
  readonly holds = new Set<HoldRecord>();
  /** Virtual time of picks; see lifecycle rule 12. */
  turn = 0;
  departure: Departure | null = null;
  /** Unix milliseconds of the last ping; `null` before the first. */
  lastHeartbeatAtMs: number | null = null;
  /** What the engine last told of itself; `null` before that. */
  engineLoad: EngineLoad | null = null;
  readonly circuit: CircuitState = 'closed';

  readonly #options: WorkerOptions;
  #boundHolds = 0;
  #processed = 0;
  readonly #ended: Record<LeaseResult, number> = { succeeded: 0, failed: 0, cancelled: 0 };
  #zmqAddress: string | null = null;
  #group: string | null = null;
  #connector: ConnectorKnowledge = { kind: 'unknown', evidence: 'none' };
  #connectorSupported = true;
  #answeredConnector: ConnectorKind | null = null;
  #statedModels: ReadonlySet<string> | null = null;
  #learntModels: ReadonlySet<string> | null = null;
  #version: string | null = null;
  #adminState: AdminState = 'ready';

  constructor(lifetime: Lifetime, registeredAtMs: number, options: WorkerOptions) {
    this.id = `${lifetime.role}-${String(lifetime.generation)}`;
    this.role = lifetime.role;
    this.endpoint = lifetime.endpoint;
    this.generation = lifetime.generation;
    this.lifetime = lifetime;
    this.registeredAtMs = registeredAtMs;
    this.health = new WorkerHealth(options.health);
    this.#options = options;
    this.readStatements();
  }

  /** Takes over what the sources state now, for addresses and labels may be learnt late; `true` when that differs. */
  readStatements(): boolean {
    const { lifetime } = this;
    const before = this.#statedIdentity();
    this.#zmqAddress = lifetime.field('zmqAddress');
    this.#group = lifetime.field('group');
    const models = lifetime.field('models');
    this.#statedModels = models === null ? null : new Set(models);
    this.#refreshConnector();
    return before !== this.#statedIdentity();
  }

  #statedIdentity(): string {
    const { kind, evidence } = this.#connector;
    const models = this.#statedModels === null ? null : [...this.#statedModels];
    return JSON.stringify([this.#zmqAddress, this.#group, kind, evidence, this.#connectorSupported, models]);
  }

  get index(): number {
    return this.generation;
  }

  get load(): number {
    return this.leases.size;
  }

  get pressure(): number {
    return this.leases.size + this.#boundHolds;
  }

  get boundHolds(): number {
    return this.#boundHolds;
  }

  get kvOutHolds(): number {
    return this.holds.size - this.#boundHolds;
  }

  /** No lease and no hold is left on it. */
  get idle(): boolean {
    return this.leases.size === 0 && this.holds.size === 0;
  }

  get processed(): number {
    return this.#processed;
  }

  get ended(): Readonly<Record<LeaseResult, number>> {
    return this.#ended;
  }

  get zmqAddress(): string | null {
    return this.#zmqAddress;
  }

  get version(): string | null {
    return this.#version;
  }

  get connector(): ConnectorKnowledge {
    return this.#connector;
  }

  get bindsEarly(): boolean {
    return bindsEarly(this.#connector.kind);
  }

  /** Label, else engine version, else `*`. */
  get group(): string {
    return this.#group ?? this.#version ?? '*';
  }

  /** Known models; `null` = unknown, which matches every model. */
  get models(): ReadonlySet<string> | null {
    return this.#statedModels ?? this.#learntModels;
  }

  /** Whether it may serve `model`; `null` asks for any. */
  serves(model: string | null): boolean {
    return model === null || (this.models?.has(model) ?? true);
  }

  /**
   * Whether a prefill and a decode worker may share a request: equal groups, or neither labelled and one unknown;
   * and not two connectors known to differ.
   */
  pairsWith(other: Worker): boolean {
    const a = this.#connector.kind;
    const b = other.#connector.kind;
    if (a !== b && a !== 'unknown' && b !== 'unknown' && !(isNixl(a) && isNixl(b))) return false;
    if (this.group === other.group) return true;
    return this.#group === null && other.#group === null && (this.#version === null || other.#version === null);
  }

  /** Everything that keeps it from new work; empty = selectable. */
  get unselectableBecause(): UnselectableReason[] {
    const reasons: UnselectableReason[] = [];
    if (this.health.gated) reasons.push('gated');
    if (this.health.restartCheck) reasons.push('restart_check');
    else if (this.health.state === 'unhealthy') reasons.push('unhealthy');
    if (this.#adminState !== 'ready') reasons.push(this.#adminState);
    if (!this.#connectorSupported) reasons.push('connector_unsupported');
    return reasons;
  }

  get selectable(): boolean {
    return (
      this.departure === null &&
      this.#adminState === 'ready' &&
      this.#connectorSupported &&
      !this.health.gated &&
      this.health.state !== 'unhealthy'
    );
  }

  /** Whether one probe round is all that keeps it from work. */
  get awaitsProbe(): boolean {
    return this.#adminState === 'ready' && this.#connectorSupported && (this.health.gated || this.health.restartCheck);
  }

  /** What an operator wished of it; kept by the drains, mirrored here for the placement. */
  setAdminState(state: AdminState): void {
    this.#adminState = state;
  }

  get adminState(): AdminState {
    return this.#adminState;
  }

  beginLease(lease: LeaseRecord): void {
    this.leases.add(lease);
    this.#processed += 1;
  }

  /** Ends a lease of this worker; `false` when it was not live. */
  endLease(lease: LeaseRecord, result: LeaseResult): boolean {
    if (!this.leases.delete(lease)) return false;
    this.#ended[result] += 1;
    return true;
  }

  beginHold(hold: HoldRecord): void {
    this.holds.add(hold);
    if (hold.kind === 'bound') this.#boundHolds += 1;
  }

  /** Ends a hold of this worker; `false` when it was not live. */
  endHold(hold: HoldRecord): boolean {
    if (!this.holds.delete(hold)) return false;
    if (hold.kind === 'bound') this.#boundHolds -= 1;
    return true;
  }

  /**
   * Learns from a probe what the engine serves and which version it is; `true` when that differs from before. An empty
   * model list teaches nothing, and neither does what could not be read.
   */
  learn(report: { readonly version: string | null; readonly models: readonly string[] | null }): boolean {
    let differs = false;
    if (report.version !== null && report.version !== this.#version) {
      this.#version = report.version;
      differs = true;
    }
    const { models } = report;
    if (models !== null && models.length > 0 && !sameMembers(this.#learntModels, models)) {
      this.#learntModels = new Set(models);
      differs = true;
    }
    return differs;
  }

  /** Learns from a prefill answer how this engine hands over; `true` when that decides something. */
  learnConnector(kind: ConnectorKind): boolean {
    const before = this.#connector;
    this.#answeredConnector = kind;
    this.#refreshConnector();
    return before.kind !== this.#connector.kind || before.evidence !== this.#connector.evidence;
  }

  #refreshConnector(): void {
    this.#connector = connectorKnowledge(this.#options.connector, this.lifetime.field('connector'), this.#answeredConnector);
    this.#connectorSupported = connectorSupported(this.#connector.kind, this.lifetime.field('transferMode'));
  }
}

function sameMembers(known: ReadonlySet<string> | null, models: readonly string[]): boolean {
  return known !== null && known.size === new Set(models).size && models.every((model) => known.has(model));
}

function isNixl(kind: ConnectorKind): boolean {
  return kind === 'nixl' || kind === 'nixl-push';
}
