import { connect, type Socket } from 'node:net';

import { eventually } from './eventually.js';
import { splitAddress } from './exchange.js';

export const leavings = ['close', 'half-close', 'reset'] as const;
/** How a client goes: its process ends, it only says it will send no more, or its connection breaks. */
export type Leaving = (typeof leavings)[number];

/** A client whose every byte, pause and way to leave a test decides. */
export class RawClient {
  readonly socket: Socket;
  readonly #chunks: Buffer[] = [];
  closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => (this.closed = true));
  }

  static async connect(address: string): Promise<RawClient> {
    const [host, port] = splitAddress(address);
    const socket = connect({ host, port, allowHalfOpen: true });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new RawClient(socket);
  }

  /** A connection with one POST written. `sent` bytes of the body go out; all unless told. */
  static async post(address: string, path: string, body: unknown, { sent, headers = {} }: { sent?: number; headers?: Record<string, string> } = {}): Promise<RawClient> {
    const client = await RawClient.connect(address);
    const bytes = Buffer.from(JSON.stringify(body));
    const head = { host: address, 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers };
    client.write(`POST ${path} HTTP/1.1\r\n${Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    client.write(bytes.subarray(0, sent ?? bytes.length));
    return client;
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  get received(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Waits until what came holds `text`. */
  async until(text: string, timeoutMs = 10_000): Promise<void> {
    await eventually(`${JSON.stringify(text)} at the client, which has ${JSON.stringify(this.received.toString().slice(-500))}`, () => this.received.includes(text), timeoutMs, 5);
  }

  leave(how: Leaving): void {
    if (how === 'half-close') this.socket.end();
    else if (how === 'reset') this.socket.resetAndDestroy();
    else this.socket.destroy();
  }
}
