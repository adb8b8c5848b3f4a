import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type NetworkAllowList } from '@switchyard/core';
import { Context, Router } from 'zeromq';
import { ConnectionGate } from './connection-gate.js';
import { type DiscoverySink, type DiscoverySource, type RejectionReason } from './discovery-source.js';
import { HostGate, type LookupAll, systemLookup } from './host-gate.js';
import { decodeRegistration } from './registration.codec.js';
import { RejectionLog } from './rejection-log.js';

export interface ListenerLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ZmqListenerOptions {
  /** Where to bind; port 0 takes a free one, host `*` every interface. */
  readonly host: string;
  readonly port: number;
  readonly allow: NetworkAllowList;
  readonly ttlMs: number;
  readonly log: ListenerLog;
  readonly lookup?: LookupAll;
  readonly monotonicMs?: () => number;
}

const maxFrameBytes = 64 * 1024;
/** Messages read in one go before timers and other sockets get their turn. */
const batch = 64;
const noMessage = { ok: false, reason: 'bad_frames', detail: 'the frame is empty' } as const;
const pollMs = 2;
const longestDrainMs = 250;

/** Takes the pings of engines over ZeroMQ: a ROUTER socket that never replies (reference: vLLM's P2P NCCL and MoRI-IO). */
export class ZmqListener implements DiscoverySource {
  readonly kind = 'zmq';
  readonly #options: ZmqListenerOptions;
  readonly #hosts: HostGate;
  readonly #rejections: RejectionLog;
  #sink: DiscoverySink | null = null;
  #socket: Router | null = null;
  #gate: ConnectionGate | null = null;
  #reading: Promise<void> = Promise.resolve();
  #received = 0;
  #stopped = false;

  constructor(options: ZmqListenerOptions) {
    const monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.#options = options;
    this.#hosts = new HostGate({ allow: options.allow, lookup: options.lookup ?? systemLookup, monotonicMs });
    this.#rejections = new RejectionLog(monotonicMs);
  }

  /** `HOST:PORT` as bound, IPv6 in brackets; `null` before `start`. */
  get address(): string | null {
    return this.#socket?.lastEndpoint?.replace(/^tcp:\/\//, '') ?? null;
  }

  async start(sink: DiscoverySink): Promise<void> {
    if (this.#sink || this.#stopped) throw new Error('a discovery source starts once');
    this.#sink = sink;
    const { host, port } = this.#options;
    const bindHost = await bindable(host);
    const context = new Context();
    const gate = new ConnectionGate(context, (address) => this.#admits(address));
    const socket = new Router({
      context,
      linger: 0,
      // A restarted engine comes with the identity of its dead connection; without this it stays unheard until TCP gives up.
      handover: true,
      ipv6: bindHost.includes(':'),
      maxMessageSize: maxFrameBytes,
      zapDomain: 'switchyard',
      tcpKeepalive: 1,
      tcpKeepaliveIdle: 30,
    });
    try {
      await gate.open();
      await socket.bind(`tcp://${bindHost}:${port}`);
    } catch (error) {
      socket.close();
      gate.close();
      throw new Error(`discovery cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    this.#gate = gate;
    this.#socket = socket;
    this.#reading = this.#read(socket);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#hosts.close();
    this.#socket?.close();
    this.#gate?.close();
    await this.#reading;
  }

  /**
   * Resolves when what was queued in the socket has been handed on: nothing came for `quietMs` and no name is being
   * resolved, or a quarter of a second (at least four times `quietMs`) has passed. After a long pause of the process
   * give libzmq's own thread, which was paused too, more quiet to empty the kernel's buffers.
   */
  async drained(quietMs = 2 * pollMs): Promise<void> {
    const startedAt = performance.now();
    const longestMs = Math.max(longestDrainMs, 4 * quietMs);
    let quietSince = startedAt;
    let seen = this.#received;
    do {
      await sleep(pollMs);
      await nextTurn();
      const now = performance.now();
      if (this.#received !== seen || this.#hosts.pending > 0) quietSince = now;
      seen = this.#received;
      if (now - startedAt >= longestMs) return;
    } while (!this.#stopped && performance.now() - quietSince < quietMs);
  }

  async #read(socket: Router): Promise<void> {
    while (!socket.closed) {
      try {
        const frames = await socket.receive();
        this.#received += 1;
        this.#guard(() => this.#take(frames));
        if (this.#received % batch === 0) await nextTurn();
      } catch (error) {
        if (this.#stopped) return;
        this.#options.log.error({ err: error }, 'discovery could not receive');
        await sleep(100);
      }
    }
  }

  #take(frames: readonly Uint8Array[]): void {
    const [identity, first, second] = frames;
    // REQ sockets, and DEALERs that imitate them, put an empty frame before the message.
    const message = first?.length === 0 ? second : first;
    const sender = senderName(identity);
    const decoded = message?.length ? decodeRegistration(message, this.#options.ttlMs) : noMessage;
    if (!decoded.ok) {
      this.#reject(decoded.reason, sender, decoded.detail);
      return;
    }
    this.#hosts.judge(decoded.host, (verdict) =>
      this.#guard(() => {
        if (verdict.ok) this.#sink?.register(decoded.registration);
        else this.#reject(verdict.reason, sender, verdict.detail);
      }),
    );
  }

  /** A fault of ours on one message must not end the listening to all others. */
  #guard(step: () => void): void {
    if (this.#stopped) return;
    try {
      step();
    } catch (error) {
      this.#options.log.error({ err: error }, 'discovery could not take a message');
    }
  }

  #admits(address: string): boolean {
    const verdict = this.#options.allow.check(address);
    if (verdict === 'allowed') return true;
    this.#guard(() => this.#reject('forbidden_sender', printable(address), 'the sender is outside the allowed networks (--discovery-allow)'));
    return false;
  }

  #reject(reason: RejectionReason, sender: string, detail: string): void {
    this.#sink?.rejected(reason, sender, detail);
    const line = this.#rejections.note(reason, sender);
    if (line) this.#options.log.warn({ reason, sender, detail, suppressed: line.suppressed }, 'registration rejected');
  }
}

/** libzmq binds to addresses and interface names only. */
async function bindable(host: string): Promise<string> {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const address = bare === '*' || isIP(bare) ? bare : (await lookup(bare)).address;
  return address.includes(':') ? `[${address}]` : address;
}

/** Engines name themselves by their ZMQ address; a socket without a name gets five bytes from libzmq. */
function senderName(identity: Uint8Array | undefined): string {
  const bytes = Buffer.from(identity ?? []);
  return bytes[0] === 0 ? `unnamed:${bytes.toString('hex').slice(0, 64)}` : printable(bytes.toString('latin1'));
}

function printable(text: string): string {
  return text.slice(0, 96).replace(/[^\x20-\x7e]/g, '?');
}
