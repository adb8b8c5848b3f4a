import { randomUUID } from 'node:crypto';

import { type RouterProcess } from '../../support/router-process.js';

/** A streamed request that goes on until its tokens are out or its client leaves. */
export class Stream {
  readonly #gone: AbortController;
  readonly #text: Promise<string>;

  private constructor(
    readonly requestId: string,
    response: Response,
    gone: AbortController,
  ) {
    this.#gone = gone;
    this.#text = response.text();
    // Whoever leaves does not wait for the end.
    this.#text.catch(() => undefined);
  }

  /** Returns once the answer has begun. */
  static async begin(router: RouterProcess, { tokens = 10_000, prompt = 'Tell me of the yard.', model = 'sim-model' } = {}): Promise<Stream> {
    const requestId = `stream-${randomUUID().slice(0, 8)}`;
    const gone = new AbortController();
    const body = { model, prompt, max_tokens: tokens, stream: true, stream_options: { include_usage: true } };
    const response = await router.post('/v1/completions', body, { headers: { 'x-request-id': requestId }, signal: gone.signal });
    if (response.status !== 200) throw new Error(`${String(response.status)} ${await response.text()}`);
    return new Stream(requestId, response, gone);
  }

  /** The whole answer. */
  async end(): Promise<string> {
    return await this.#text;
  }

  leave(): void {
    this.#gone.abort();
  }
}
