import { createHash, type Hash } from 'node:crypto';
import { type ServerResponse } from 'node:http';
import { type RequestRecord, unixNowMs } from '../control/request-record.js';

/** One response, its bytes counted and hashed into the record of its request. */
export class Answer {
  readonly record: RequestRecord;
  readonly #res: ServerResponse;
  readonly #hash: Hash = createHash('sha256');
  readonly #onAbort = new Set<() => void>();
  #over = false;

  /** `onOver` is called once, with whether the client left before the end. */
  constructor(res: ServerResponse, record: RequestRecord, onOver: (aborted: boolean) => void) {
    this.#res = res;
    this.record = record;
    // uvicorn states neither Connection nor Keep-Alive: a client has to find out by itself that idle sockets end.
    if (res.req.headers.connection?.toLowerCase() !== 'close') res.removeHeader('connection');
    res.once('close', () => {
      if (!this.#over) this.#settle();
      const aborted = !res.writableFinished;
      if (aborted) for (const abort of this.#onAbort) abort();
      this.#onAbort.clear();
      onOver(aborted);
    });
  }

  /** Whether nobody waits for more. */
  get over(): boolean {
    return this.#over;
  }

  get headSent(): boolean {
    return this.#res.headersSent;
  }

  /** Calls back when the client leaves before the end. */
  onAbort(abort: () => void): void {
    this.#onAbort.add(abort);
  }

  onceDrained(resume: () => void): void {
    this.#res.once('drain', resume);
  }

  /** A whole answer. */
  send(status: number, contentType: string, body: string, headers: Readonly<Record<string, string>> = {}): void {
    if (this.#over) return;
    const bytes = Buffer.from(body, 'utf8');
    this.#head(status, { 'content-length': String(bytes.length), ...(contentType === '' ? {} : { 'content-type': contentType }), ...headers });
    this.#count(bytes);
    this.#settle();
    this.#res.end(bytes);
  }

  json(status: number, body: string, headers: Readonly<Record<string, string>> = {}): void {
    this.send(status, 'application/json', body, headers);
  }

  /** Status and headers of an event stream, on the wire at once as FastAPI does it. */
  openStream(): void {
    if (this.#over) return;
    this.#head(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    this.#res.flushHeaders();
  }

  /** Status and headers of a JSON answer whose body will never be whole. */
  openJson(bodyBytes: number): void {
    if (this.#over) return;
    this.#head(200, { 'content-length': String(bodyBytes), 'content-type': 'application/json' });
    this.#res.flushHeaders();
  }

  /** Part of the body; false when the client reads too slowly. */
  write(text: string): boolean {
    if (this.#over) return true;
    const bytes = Buffer.from(text, 'utf8');
    this.#count(bytes);
    return this.#res.write(bytes);
  }

  end(): void {
    if (this.#over) return;
    this.#settle();
    this.#res.end();
  }

  /** RST. */
  reset(): void {
    this.#settle();
    this.#res.socket?.resetAndDestroy();
  }

  /** FIN without the end of the body. */
  fin(): void {
    this.#settle();
    this.#res.socket?.end();
  }

  #head(status: number, headers: Readonly<Record<string, string>>): void {
    this.record.status = status;
    this.record.headAtMs = unixNowMs();
    this.#res.writeHead(status, { server: 'uvicorn', ...headers });
  }

  #count(bytes: Buffer): void {
    this.record.firstByteAtMs ??= unixNowMs();
    this.record.responseBytes += bytes.length;
    this.#hash.update(bytes);
  }

  #settle(): void {
    if (this.#over) return;
    this.#over = true;
    this.record.responseSha256 = this.#hash.digest('hex');
  }
}
