import { randomUUID } from 'node:crypto';

import { type RouterProcess } from './router-process.js';

export interface TrafficOptions {
  readonly model: string;
  readonly loops?: number;
  readonly maxTokens?: number;
  /** Whether every other request streams; off for engines that cannot. */
  readonly streams?: boolean;
  /** Words in each prompt. */
  readonly promptWords?: number;
}

/** Clients that send one request after the other until told to stop. */
export class Traffic {
  /** What went wrong, one line a request. */
  readonly failures: string[] = [];
  completed = 0;
  #stopped = false;
  readonly #loops: Promise<void>[];
  readonly #router: RouterProcess;
  readonly #options: TrafficOptions;

  constructor(router: RouterProcess, options: TrafficOptions) {
    this.#router = router;
    this.#options = options;
    this.#loops = Array.from({ length: options.loops ?? 4 }, (_, index) => this.#loop(index));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }

  async #loop(index: number): Promise<void> {
    for (let turn = index; !this.#stopped; turn += 1) {
      const id = `traffic-${randomUUID()}`;
      const fault = await this.#request(id, this.#options.streams !== false && turn % 2 === 0).catch((error: unknown) => String(error));
      if (fault === null) this.completed += 1;
      else this.failures.push(`${new Date().toISOString()} ${id}: ${fault}`);
    }
  }

  /** `null` when the answer was complete. */
  async #request(id: string, stream: boolean): Promise<string | null> {
    const { model, maxTokens = 8, promptWords = 60 } = this.#options;
    const prompt = Array.from({ length: promptWords }, (_, index) => `${id.slice(-8)}${String(index)}`).join(' ');
    const response = await this.#router.post('/v1/completions', { model, prompt, max_tokens: maxTokens, stream }, { headers: { 'x-request-id': id } });
    const text = await response.text();
    if (response.status !== 200) return `${String(response.status)} ${text.slice(0, 300)}`;
    if (stream) return text.endsWith('data: [DONE]\n\n') ? null : `stream ended with ${JSON.stringify(text.slice(-200))}`;
    return (JSON.parse(text) as { choices: unknown[] }).choices.length === 1 ? null : text.slice(0, 200);
  }
}
