import { type Agent, type IncomingHttpHeaders, request } from 'node:http';

/** One answer as it was on the wire. */
export interface Exchanged {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly text: string;
  /** Whether the answer came to its proper end, by its length or its last chunk. */
  readonly complete: boolean;
  readonly elapsedMs: number;
}

export interface ExchangeOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A connection of its own unless given. */
  readonly agent?: Agent;
}

/** One request over `node:http`, which shows what `fetch` hides: raw headers, and whether the answer is complete. */
export async function exchange(api: string, path: string, body: string | Uint8Array | Record<string, unknown>, options: ExchangeOptions = {}): Promise<Exchanged> {
  const [host, port] = splitAddress(api);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  const beganMs = performance.now();
  return await new Promise((resolve, reject) => {
    const req = request({
      host,
      port,
      path,
      method: options.method ?? 'POST',
      agent: options.agent ?? false,
      headers: { 'content-type': 'application/json', 'content-length': bytes.length, ...options.headers },
    });
    req.on('error', reject);
    req.on('response', (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', () => undefined);
      res.on('close', () => {
        const whole = Buffer.concat(chunks);
        const { headers, rawHeaders, complete } = res;
        resolve({ status: res.statusCode ?? 0, headers, rawHeaders, body: whole, text: whole.toString(), complete, elapsedMs: performance.now() - beganMs });
      });
    });
    req.end(bytes);
  });
}

export function splitAddress(address: string): readonly [host: string, port: number] {
  const at = address.lastIndexOf(':');
  return [address.slice(0, at), Number(address.slice(at + 1))];
}
