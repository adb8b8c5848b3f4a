/** The usage object of vLLM's answers is among the last members, and among the last events of a stream. */
const keptBytes = 8192;

/** What an engine says an answer cost, in tokens. */
export interface AnswerUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** `null` = not told. */
  readonly cachedTokens: number | null;
}

/** The last bytes of an answer that passes by: references to its last chunks, no copies. */
export class AnswerTail {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  note(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    let first = this.#chunks[0];
    while (first !== undefined && this.#bytes - first.length >= keptBytes) {
      this.#chunks.shift();
      this.#bytes -= first.length;
      first = this.#chunks[0];
    }
  }

  /** Whether what has passed is empty or ends with the blank line that ends an event. */
  get betweenEvents(): boolean {
    const end = this.#joined().toString('latin1', Math.max(0, this.#bytes - 4));
    return end === '' || /(?:\n\n|\r\r|\r\n\r\n)$/.test(end);
  }

  /** The last usage object of a complete answer; `null` when there is none. For receipts and rates only. */
  usage(): AnswerUsage | null {
    const text = this.#joined().toString('latin1');
    for (let at = text.lastIndexOf('"usage"'); at !== -1; at = at === 0 ? -1 : text.lastIndexOf('"usage"', at - 1)) {
      const usage = readUsage(text, at + '"usage"'.length);
      if (usage !== null) return usage;
    }
    return null;
  }

  #joined(): Buffer {
    const [only] = this.#chunks;
    return this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks);
  }
}

function readUsage(text: string, from: number): AnswerUsage | null {
  const open = /^\s*:\s*(?=\{)/.exec(text.slice(from, from + 16));
  if (open === null) return null;
  const start = from + open[0].length;
  // Usage holds numbers and one level of details: it ends at the second closing brace at most.
  for (let end = text.indexOf('}', start), tries = 0; end !== -1 && tries < 4; end = text.indexOf('}', end + 1), tries += 1) {
    const usage = parsed(text.slice(start, end + 1));
    if (usage !== null) return usage;
  }
  return null;
}

function parsed(json: string): AnswerUsage | null {
  try {
    const usage = JSON.parse(json) as Readonly<Record<string, unknown>>;
    const { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: details } = usage;
    if (!isCount(prompt) || !isCount(completion)) return null;
    const cached = typeof details === 'object' && details !== null && 'cached_tokens' in details ? details.cached_tokens : null;
    return { promptTokens: prompt, completionTokens: completion, cachedTokens: isCount(cached) ? cached : null };
  } catch {
    return null;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
