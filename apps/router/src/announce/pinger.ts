import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Packr } from 'msgpackr';
import { Dealer } from 'zeromq';
import { type HealthProber } from '../pools/health-prober.js';
import { type AnnounceOptions } from './announce-options.js';
import { EngineIdentity } from './engine-identity.js';

export interface PingerDeps {
  readonly options: AnnounceOptions;
  readonly prober: Pick<HealthProber, 'probe'>;
  readonly log: (line: string) => void;
  readonly intervalMs: number;
}

/** How long a ping waits for a connection to the router. */
const sendTimeoutMs = 1_000;
const packr = new Packr({ useRecords: false });

type State = 'announcing' | 'engine silent' | 'router silent';

/** Tells the router every interval that the engine is there, as long as its `/health` answers. */
export class Pinger {
  readonly #deps: PingerDeps;
  readonly #identity = new EngineIdentity(() => randomBytes(8).toString('hex'));
  readonly #off = new AbortController();
  #state: State | null = null;

  constructor(deps: PingerDeps) {
    this.#deps = deps;
  }

  /** Pings until `stop`; ends at once then. */
  async run(): Promise<void> {
    const socket = await this.#connect();
    try {
      while (!this.#off.signal.aborted) {
        const next = performance.now() + this.#deps.intervalMs;
        await this.#round(socket);
        await sleep(Math.max(0, next - performance.now()), undefined, { signal: this.#off.signal }).catch(() => undefined);
      }
    } finally {
      socket.close();
    }
  }

  stop(): void {
    this.#off.abort();
  }

  async #connect(): Promise<Dealer> {
    const { router, role, advertised } = this.#deps.options;
    const addresses = await lookup(router.host, { all: true }).catch(() => []);
    const socket = new Dealer({
      routingId: `announce:${role}:${advertised}`.slice(0, 255),
      linger: 0,
      ipv6: addresses.length > 0 && addresses.every(({ family }) => family === 6),
      // Without a connection nothing is queued: a router must not hear of an engine from the past.
      immediate: true,
      sendTimeout: sendTimeoutMs,
      heartbeatInterval: 10_000,
      heartbeatTimeout: 30_000,
    });
    socket.connect(`tcp://${router.host.includes(':') ? `[${router.host}]` : router.host}:${router.port}`);
    return socket;
  }

  async #round(socket: Dealer): Promise<void> {
    const { engine } = this.#deps.options;
    const { health, startedAtSecs } = await this.#deps.prober.probe(engine, { what: ['startedAt'], signal: this.#off.signal });
    if (this.#off.signal.aborted) return;
    if (health === 'refused') this.#identity.refused();
    if (health !== 'ok') {
      this.#enter('engine silent', `${engine} does not answer /health (${health}); not announced until it does`);
      return;
    }
    this.#identity.answered(startedAtSecs);
    try {
      await socket.send(packr.pack(this.#message()));
      this.#enter('announcing', `announcing ${this.#deps.options.advertised} as ${this.#deps.options.role}`);
    } catch {
      const { host, port } = this.#deps.options.router;
      this.#enter('router silent', `no connection to the router at ${host}:${port}`);
    }
  }

  /** A `RegistrationMessage`; what is not known is left out. */
  #message(): Readonly<Record<string, unknown>> {
    const { role, advertised, zmqAddress, connector, group } = this.#deps.options;
    const { instance, startedAtSecs } = this.#identity;
    const optional = { zmq_address: zmqAddress, instance, connector, group, started_at: startedAtSecs };
    return {
      type: role === 'prefill' ? 'P' : 'D',
      // Without a scheme when it is http, as engines themselves write it.
      http_address: advertised.replace(/^http:\/\//, ''),
      ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)),
    };
  }

  #enter(state: State, line: string): void {
    if (this.#state !== state) this.#deps.log(line);
    this.#state = state;
  }
}
