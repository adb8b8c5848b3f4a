import { request } from 'node:http';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface RawCall {
  readonly method?: string;
  /** Sent as it is: `fetch` would tidy it. */
  readonly path: string;
  /** Name, value, name, value: repeated names stay repeated. */
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
}

/** One HTTP call exactly as written, on a connection of its own. */
export async function rawCall(address: string, { method = 'GET', path, headers = [], body }: RawCall): Promise<RawAnswer> {
  const { hostname, port } = new URL(`http://${address}`);
  const length = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
  return await new Promise((resolve, reject) => {
    const req = request({
      host: hostname.replace(/^\[|\]$/g, ''),
      port,
      method,
      path,
      agent: false,
      headers: ['host', address, 'connection', 'close', ...length, ...headers],
    });
    req.setTimeout(10_000, () => req.destroy(new Error(`${method} ${path}: no answer`)));
    req.on('error', reject);
    req.on('response', (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks).toString('utf8') }));
    });
    req.end(body);
  });
}
