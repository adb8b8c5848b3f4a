import { Inject, Injectable } from '@nestjs/common';
import { type Cluster, type Network, networkAllowList, parseNetwork, type Registration, type Role, type SourceKind } from '@switchyard/core';
import { StartError } from '../start-error.js';
import { LOADED_CONFIG } from '../config/config.module.js';
import { type LoadedConfig } from '../config/load-config.js';
import { CLUSTER, type HeardFirst } from '../pools/pools.service.js';
import { EventLog } from '../store/event-log.js';
import { LOGGER, REGISTRATION_COUNTER } from '../telemetry/telemetry.tokens.js';
import { type DiscoverySink, type DiscoverySource, type RejectionReason } from './discovery-source.js';
import { RejectionEvents } from './rejection-events.js';
import { StaticEngines } from './static-engines.js';
import { type ListenerLog, ZmqListener } from './zmq-listener.js';

/** Counts what became of statements; labels are closed. */
export interface RegistrationCounter {
  counted(kind: 'new' | 'heartbeat' | 'replaced' | 'rejected'): void;
}

/** Runs the sources of this configuration and hands what they state to the core. */
@Injectable()
export class DiscoveryService implements DiscoverySink {
  readonly #cluster: Cluster;
  readonly #counter: RegistrationCounter;
  readonly #log: ListenerLog;
  readonly #rejections: RejectionEvents;
  readonly #listener: ZmqListener | null;
  readonly #sources: readonly DiscoverySource[];

  constructor(
    @Inject(LOADED_CONFIG) { config }: LoadedConfig,
    @Inject(CLUSTER) cluster: Cluster,
    @Inject(REGISTRATION_COUNTER) counter: RegistrationCounter,
    @Inject(LOGGER) log: ListenerLog,
    events: EventLog,
  ) {
    const { address, allow, registrationTtlSecs, prefill, decode, workers } = config.discovery;
    this.#cluster = cluster;
    this.#counter = counter;
    this.#log = log;
    this.#rejections = new RejectionEvents((event) => events.append(event), () => performance.now());
    this.#listener =
      address === null
        ? null
        : new ZmqListener({ ...address, allow: networkAllowList(allow.map(parsed)), ttlMs: registrationTtlSecs * 1000, log });
    const listed = new StaticEngines({ prefill, decode, regular: workers });
    this.#sources = this.#listener === null ? [listed] : [listed, this.#listener];
  }

  /** `HOST:PORT` as bound, or `off`. */
  get address(): string {
    return this.#listener?.address ?? 'off';
  }

  /** What must be read empty before time advances. */
  get heardFirst(): readonly HeardFirst[] {
    return this.#listener === null ? [] : [this.#listener];
  }

  async start(): Promise<void> {
    for (const source of this.#sources) {
      try {
        await source.start(this);
      } catch (error) {
        throw new StartError(`${error instanceof Error ? error.message : String(error)} (set --discovery-address to a free address, or off)`);
      }
    }
  }

  async stop(): Promise<void> {
    for (const source of this.#sources) await source.stop();
  }

  register(registration: Registration): void {
    try {
      const { kind } = this.#cluster.register(registration);
      this.#counter.counted(kind === 'quarantined' ? 'rejected' : kind);
    } catch (error) {
      this.#counter.counted('rejected');
      this.#log.error({ err: error, role: registration.role, endpoint: registration.endpoint }, 'a registration could not be taken');
    }
  }

  withdraw(role: Role, endpoint: string, source: SourceKind): void {
    this.#cluster.withdraw(role, endpoint, source);
  }

  /** The listener has logged it, once a minute per reason and sender. */
  rejected(reason: RejectionReason, sender: string, detail: string): void {
    this.#counter.counted('rejected');
    this.#rejections.note(reason, sender, detail);
  }
}

/** The configuration was validated, so a refusal here is a fault of ours. */
function parsed(text: string): Network {
  const parse = parseNetwork(text);
  if (!parse.ok) throw new Error(`${text}: ${parse.reason}`);
  return parse.network;
}
