import { type EndpointKey } from '../registry/lifetime.js';
import { type ConnectorFlag, type Phase, type PolicyName, type Role } from '../words.js';
import { Worker } from '../workers/worker.js';
import { ClusterKit } from './cluster-kit.contract-suite.js';
import { type WatchedClaim, WatchedPolicy } from './watched-policy.contract-suite.js';

export const ttlMs = 10_000;
export const handoffMaxAgeMs = 20_000;
export const models = ['m', 'n'] as const;
export const facts = ['zmqAddress', 'instance', 'startedAtSecs'] as const;

/** An engine process as it really is. */
export interface Engine {
  readonly endpoint: string;
  readonly label: string | null;
  zmqAddress: string;
  instance: string;
  startedAtSecs: number;
  engineId: string;
  version: string;
  /** Restarts that changed something of the above: only those can be proven. */
  restarts: number;
}

export interface Lifetime {
  readonly statements: Map<string, number | null>;
  readonly heard: { zmqAddress: string | null; instance: string | null };
  startedAtSecs: number | null;
  engineId: string | null;
}

/** What the model believes of one generation. */
export interface Known {
  readonly worker: Worker;
  readonly restartsAtStart: number;
  gated: boolean;
  unhealthy: boolean;
  failures: number;
  suspectedAtMs: number | null;
  version: string | null;
  models: readonly string[] | null;
  load: number;
  bound: number;
  kvOut: number;
  begun: number;
  ended: { succeeded: number; failed: number; cancelled: number };
}

export interface LiveGrant {
  readonly id: number;
  readonly requestKey: number;
  readonly model: string | null;
  readonly prefill: Known | null;
  readonly early: boolean;
  decode: Known | null;
  lease: Known | null;
  kvOut: boolean;
  bound: boolean;
  state: 'prefill' | 'handoff' | 'decode' | 'single';
  handoffAtMs: number;
  claims: Partial<Record<Phase, WatchedClaim>>;
  abandoned: boolean;
}

/** What the naive model of a cluster writes down: the engines as they are, and what the router may know of them. */
export class ModelBooks {
  readonly kit: ClusterKit;
  protected readonly claims: WatchedClaim[] = [];
  protected readonly engines: Engine[];
  protected readonly lifetimes = new Map<EndpointKey, Lifetime>();
  protected readonly waiting = new Map<EndpointKey, Set<string>>();
  protected readonly added = new Set<EndpointKey>();
  protected readonly quarantine = new Map<EndpointKey, number | null>();
  /** `restarts` counts up to the process that the router may know at most: what it has not heard it may still take for proof. */
  protected readonly drains = new Map<EndpointKey, { until: 'restart' | 'undrain'; restarts: number }>();
  protected readonly known = new Map<Worker, Known>();
  protected readonly grants: LiveGrant[] = [];
  protected readonly revoked = new Set<string>();
  protected listeningMs = 0;
  protected lastTickMs: number;
  protected largestGeneration = 0;

  constructor(policy: PolicyName, connector: ConnectorFlag) {
    this.kit = new ClusterKit({ policy, connector, handoffMaxAgeMs, generationStep: 5, wrap: (inner) => new WatchedPolicy(inner, this.claims) });
    this.lastTickMs = this.kit.nowMs;
    this.engines = [0, 1, 2, 3].map((host) => ({
      endpoint: `http://10.0.0.${host}:8000`,
      label: host === 3 ? 'blue' : null,
      zmqAddress: `tcp://${host}.0`,
      instance: `${host}.0`,
      startedAtSecs: 1_000,
      engineId: `${host}.0`,
      version: host === 2 ? '2' : '1',
      restarts: 0,
    }));
  }

  protected selectable({ worker, gated, unhealthy, suspectedAtMs }: Known): boolean {
    const { key } = worker.lifetime;
    return this.kit.find(worker.role, worker.endpoint) === worker && this.lifetimes.has(key) && !this.drains.has(key) && !gated && !unhealthy && suspectedAtMs === null;
  }

  protected serves(known: Known, model: string | null): boolean {
    return model === null || known.models === null || known.models.includes(model);
  }

  protected pairs(a: Known, b: Known): boolean {
    const label = (known: Known): string | null => this.engineOf(known.worker).label;
    const group = (known: Known): string => label(known) ?? known.version ?? '*';
    if (group(a) === group(b)) return true;
    return label(a) === null && label(b) === null && (group(a) === '*' || group(b) === '*');
  }

  protected engineOf(worker: Worker): Engine {
    return this.engines.find(({ endpoint }) => endpoint === worker.endpoint)!;
  }

  protected *current(role?: Role): Iterable<Known> {
    for (const worker of this.kit.cluster.fleet.workers()) {
      const known = this.known.get(worker);
      if (known !== undefined && (role === undefined || worker.role === role)) yield known;
    }
  }

  protected isCurrent({ worker }: Known): boolean {
    return this.kit.find(worker.role, worker.endpoint) === worker;
  }

  /** Notes workers that came: each a generation that was never there before. */
  protected discover(): void {
    for (const worker of [...this.kit.cluster.fleet.workers()].sort((a, b) => a.generation - b.generation)) {
      if (this.known.has(worker)) continue;
      if (worker.generation <= this.largestGeneration) throw new Error(`generation ${worker.generation} after ${this.largestGeneration}`);
      this.largestGeneration = worker.generation;
      this.known.set(worker, {
        worker,
        restartsAtStart: this.engineOf(worker).restarts,
        gated: true,
        unhealthy: false,
        failures: 0,
        suspectedAtMs: null,
        version: null,
        models: null,
        load: 0,
        bound: 0,
        kvOut: 0,
        begun: 0,
        ended: { succeeded: 0, failed: 0, cancelled: 0 },
      });
    }
  }
}

/** Throws unless both are the same, or print the same. */
export function same(what: string, actual: unknown, expected: unknown): void {
  if (Object.is(actual, expected)) return;
  const [a, b] = [print(actual), print(expected)];
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`);
}

function print(value: unknown): string {
  return value instanceof Worker ? value.id : JSON.stringify(value);
}
