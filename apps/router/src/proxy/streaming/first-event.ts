const lineFeed = 10;
const carriageReturn = 13;
const colon = 58;

/**
 * Finds where the first server-sent event of a stream is complete, for any chunking and any of the three line ends.
 * Comments are no events: an engine may keep its connection alive with them long before it says anything.
 */
export class FirstEventScanner {
  #lineEmpty = true;
  #afterReturn = false;
  #comment = false;
  #content = false;

  /** Whether the first event ends within `bytes`, the continuation of what was given before. */
  completes(bytes: Uint8Array): boolean {
    for (const byte of bytes) {
      if (byte === lineFeed && this.#afterReturn) {
        this.#afterReturn = false;
        continue;
      }
      this.#afterReturn = byte === carriageReturn;
      if (byte !== lineFeed && byte !== carriageReturn) {
        if (this.#lineEmpty) this.#comment = byte === colon;
        this.#lineEmpty = false;
        if (!this.#comment) this.#content = true;
      } else if (this.#lineEmpty) {
        if (this.#content) return true;
      } else {
        this.#lineEmpty = true;
      }
    }
    return false;
  }
}

/** Whether the first event of `text` carries a JSON object with an `error` object: a failure in the clothes of a 200. */
export function opensWithError(text: string): boolean {
  if (!text.includes('"error"')) return false;
  const data: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === '' && data.length > 0) break;
    if (line.startsWith('data:')) data.push(line.slice(5));
  }
  try {
    const value: unknown = JSON.parse(data.join('\n'));
    return typeof value === 'object' && value !== null && 'error' in value && typeof value.error === 'object' && value.error !== null;
  } catch {
    return false;
  }
}
