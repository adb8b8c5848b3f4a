import { type JsonFailure, type JsonKind } from './json-failure.js';
import { JsonReader } from './json-reader.js';
import { type JsonRange, rawStringIs } from './json-value.js';

/** One member of an object, by where it lies: name and value, quotes included. */
export interface JsonMember {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: JsonRange;
}

/** A checked JSON object text and the places of its own members; nothing of it is copied. */
export interface JsonDocument {
  readonly bytes: Uint8Array;
  /** Offset of the object's `{`. */
  readonly open: number;
  /** In document order, duplicates included. */
  readonly members: readonly JsonMember[];
}

export type JsonScan =
  | { readonly kind: 'object'; readonly document: JsonDocument }
  | { readonly kind: 'not_object'; readonly valueKind: JsonKind }
  | { readonly kind: 'invalid'; readonly failure: JsonFailure };

/**
 * Sees each top-level member while its value is still unread: the reader stands at the value and knows its name.
 * It may read the value, wholly; what it leaves untouched is skipped.
 */
export type MemberVisitor = (reader: JsonReader) => void;

/**
 * Checks a whole JSON text and locates the members of its outermost object. One pass, linear in the bytes; memory is
 * a few words a top-level member and a bit a nesting level. Never throws; empty input is a syntax failure.
 */
export function scanDocument(bytes: Uint8Array, visit?: MemberVisitor): JsonScan {
  const reader = new JsonReader(bytes);
  const valueKind = reader.valueKind();
  const open = reader.position;
  const members: JsonMember[] = [];
  if (valueKind === 'object') {
    for (let more = reader.enterObject(); more; more = reader.nextMember()) {
      const { keyStart, keyEnd, position: start } = reader;
      visit?.(reader);
      if (reader.position === start) reader.skipValue();
      members.push({ keyStart, keyEnd, value: { start, end: reader.position } });
    }
  } else {
    reader.skipValue();
  }
  reader.atEnd();
  if (reader.failure !== null) return { kind: 'invalid', failure: reader.failure };
  if (valueKind !== 'object') return { kind: 'not_object', valueKind: valueKind ?? 'null' };
  return { kind: 'object', document: { bytes, open, members } };
}

/**
 * The value that counts for `name` (compared after unescaping): its last occurrence, as JSON parsers take it;
 * `undefined` when there is none. Linear in the number of members.
 */
export function valueOf(document: JsonDocument, name: string): JsonRange | undefined {
  const { bytes, members } = document;
  for (let i = members.length - 1; i >= 0; i--) {
    const member = members[i];
    if (member !== undefined && rawStringIs(bytes, member.keyStart, member.keyEnd, name)) return member.value;
  }
  return undefined;
}
