import { isHopByHop, namedByConnection } from './hop-by-hop.js';

/** The head of an engine's answer as the client gets it, with the few facts the relay decides by. */
export interface AnswerHead {
  readonly status: number;
  readonly statusText: string;
  /** Flat names and values: the engine's end-to-end headers in their order, duplicates kept, then `x-request-id`. */
  readonly headers: string[];
  /** Unencoded server-sent events: their first event can be read. */
  readonly eventStream: boolean;
  /** `null` when the length is not announced. */
  readonly contentLength: number | null;
}

/** Reads an engine's raw head. Its own `x-request-id` is the router's internal name of the leg and stays inside. */
export function readAnswerHead(status: number, statusText: string, raw: readonly Buffer[], requestId: string): AnswerHead {
  const names: string[] = [];
  let connection: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = latin1(raw[i]).toLowerCase();
    names.push(name);
    if (name === 'connection') {
      const value = latin1(raw[i + 1]);
      connection = connection === undefined ? value : `${connection},${value}`;
    }
  }
  const named = namedByConnection(connection);
  const headers: string[] = [];
  let events = false;
  let encoded = false;
  let contentLength: number | null = null;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? '';
    if (name === 'x-request-id' || name.startsWith('x-switchyard-') || isHopByHop(name, named)) continue;
    const value = latin1(raw[2 * i + 1]);
    if (name === 'content-type') events = value.toLowerCase().startsWith('text/event-stream');
    else if (name === 'content-encoding') encoded = value.toLowerCase() !== 'identity';
    else if (name === 'content-length') contentLength = Number(value);
    headers.push(latin1(raw[2 * i]), value);
  }
  headers.push('x-request-id', requestId);
  return { status, statusText: reasonPhrase(statusText), headers, eventStream: events && !encoded, contentLength };
}

/**
 * The engine's bytes after the status, one character a byte. The HTTP client has read them as UTF-8, and takes what no
 * response may send: other bytes, and control characters. Such a phrase is left out, since nobody acts on it.
 */
function reasonPhrase(text: string): string {
  if (/^[\t\x20-\x7e]*$/.test(text)) return text;
  const bytes = Buffer.from(text).toString('latin1');
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(bytes) && !text.includes('\ufffd') ? bytes : '';
}

function latin1(bytes: Buffer | undefined): string {
  return bytes === undefined ? '' : bytes.toString('latin1');
}
