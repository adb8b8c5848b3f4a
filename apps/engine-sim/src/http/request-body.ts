import { type IncomingMessage } from 'node:http';

/** Reads a whole body; `null` when the client left before its end. */
export function readBody(req: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)));
    req.on('error', () => resolve(null));
    req.on('close', () => resolve(null));
  });
}

const textsAndPythonNumbers = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/gs;

/** Parses as Python's `json.loads` does: a BOM and the tokens NaN, Infinity and -Infinity pass (as null). Throws SyntaxError. */
export function parsePythonJson(text: string): unknown {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return JSON.parse(body);
  } catch (error) {
    if (!/NaN|Infinity/.test(body)) throw error;
    return JSON.parse(body.replace(textsAndPythonNumbers, (match) => (match.startsWith('"') ? match : 'null')));
  }
}
