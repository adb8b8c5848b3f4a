import { type JsonKind } from './json-failure.js';
import { decodeUtf8 } from './utf8.js';

/** Where a value lies in its document: `[start, end)`, without surrounding white space. */
export interface JsonRange {
  readonly start: number;
  readonly end: number;
}

const backslash = 0x5c;

/** Kind of the valid JSON value at `range`, by its first byte. `NaN` and the infinities are numbers. */
export function kindAt(bytes: Uint8Array, range: JsonRange): JsonKind {
  switch (bytes[range.start]) {
    case 0x22:
      return 'string';
    case 0x7b:
      return 'object';
    case 0x5b:
      return 'array';
    case 0x74:
    case 0x66:
      return 'boolean';
    case 0x6e:
      return 'null';
    default:
      return 'number';
  }
}

/** The unescaped string at `range`; `null` for any other kind. Linear. */
export function stringAt(bytes: Uint8Array, range: JsonRange): string | null {
  return kindAt(bytes, range) === 'string' ? decodeString(bytes, range.start, range.end) : null;
}

/** The boolean at `range`; `null` for any other kind. */
export function booleanAt(bytes: Uint8Array, range: JsonRange): boolean | null {
  return kindAt(bytes, range) === 'boolean' ? bytes[range.start] === 0x74 : null;
}

/** The number at `range` as JavaScript reads it (large integers lose digits); `null` for any other kind. */
export function numberAt(bytes: Uint8Array, range: JsonRange): number | null {
  return kindAt(bytes, range) === 'number' ? Number(decodeUtf8(bytes, range.start, range.end)) : null;
}

/** The raw bytes of the value at `range`; shares memory with `bytes`. */
export function rawAt(bytes: Uint8Array, range: JsonRange): Uint8Array {
  return bytes.subarray(range.start, range.end);
}

/** Unescapes the valid JSON string whose quotes are at `start` and `end - 1`. Linear. */
function decodeString(bytes: Uint8Array, start: number, end: number): string {
  if (!bytes.subarray(start, end).includes(backslash)) return decodeUtf8(bytes, start + 1, end - 1);
  const text: unknown = JSON.parse(decodeUtf8(bytes, start, end));
  return typeof text === 'string' ? text : '';
}

/** Whether the valid JSON string at `[start, end)`, quotes included, is `text` after unescaping. */
export function rawStringIs(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  const length = end - start - 2;
  // An escape is longer than what it stands for, so a shorter string cannot be equal.
  if (length < text.length) return false;
  if (length === text.length) {
    let i = 0;
    while (i < length && bytes[start + 1 + i] === text.charCodeAt(i)) i++;
    if (i === length) return true;
  }
  for (let i = start + 1; i < end - 1; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === backslash || byte >= 0x80) return decodeString(bytes, start, end) === text;
  }
  return false;
}
