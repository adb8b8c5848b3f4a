import { type JsonDocument } from './json-document.js';
import { rawStringIs } from './json-value.js';
import { encodeUtf8 } from './utf8.js';

/** A wanted change of one top-level member. `value` is raw JSON and goes in unchanged. */
export type JsonEdit =
  | { readonly kind: 'set'; readonly name: string; readonly value: Uint8Array }
  | { readonly kind: 'remove'; readonly name: string };

/** A body in pieces: untouched stretches share memory with the original, so a large prompt is never copied. */
export interface EditedBody {
  readonly pieces: readonly Uint8Array[];
  readonly byteLength: number;
}

/** An edit that sets `name` to the JSON text `value`. */
export function setMember(name: string, value: string | Uint8Array): JsonEdit {
  return { kind: 'set', name, value: typeof value === 'string' ? encodeUtf8(value) : value };
}

/** An edit that removes every member called `name`. */
export function removeMember(name: string): JsonEdit {
  return { kind: 'remove', name };
}

/** The pieces as one array; the original when there is one piece. Linear. */
export function joinBody(body: EditedBody): Uint8Array {
  const [first, second] = body.pieces;
  if (first !== undefined && second === undefined) return first;
  const whole = new Uint8Array(body.byteLength);
  let at = 0;
  for (const piece of body.pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/**
 * Applies `edits` to the document; of several for one name the last counts. A set member is replaced at its last
 * occurrence, earlier ones go; one that is absent is added at the end, in the order of the edits. A removed member
 * goes at every occurrence, with one comma. All other bytes stay as they are, white space included.
 * Cost: members × edits, and nothing per byte.
 */
export function editDocument(document: JsonDocument, edits: readonly JsonEdit[]): EditedBody {
  const { bytes, members } = document;
  const { fates, additions } = decideFates(document, edits);
  const splicer = new Splicer(bytes);
  let kept = false;
  let insertAt = document.open + 1;
  for (let i = 0; i < members.length; i++) {
    const member = members[i];
    if (member === undefined) continue;
    const { value } = member;
    const fate = fates[i];
    if (fate === 'remove') {
      // Behind a member that stays, the comma before goes along; ahead of all of them, the comma behind.
      if (kept) splicer.replace(insertAt, value.end);
      else splicer.replace(member.keyStart, members[i + 1]?.keyStart ?? value.end);
    } else {
      kept = true;
      if (fate !== undefined) splicer.replace(value.start, value.end, fate);
    }
    insertAt = value.end;
  }
  let separator = kept ? ',' : '';
  for (const { name, value } of additions) {
    splicer.replace(insertAt, insertAt, encodeUtf8(`${separator}${JSON.stringify(name)}:`));
    splicer.replace(insertAt, insertAt, value);
    separator = ',';
  }
  return splicer.finish();
}

interface Fates {
  /** By member index; a hole means: stays. */
  readonly fates: readonly (Uint8Array | 'remove' | undefined)[];
  readonly additions: readonly { readonly name: string; readonly value: Uint8Array }[];
}

function decideFates({ bytes, members }: JsonDocument, edits: readonly JsonEdit[]): Fates {
  const fates: (Uint8Array | 'remove' | undefined)[] = [];
  const additions: { name: string; value: Uint8Array }[] = [];
  for (let e = 0; e < edits.length; e++) {
    const edit = edits[e];
    if (edit === undefined || edits.some((later, at) => at > e && later.name === edit.name)) continue;
    let value = edit.kind === 'set' ? edit.value : null;
    for (let i = members.length - 1; i >= 0; i--) {
      const member = members[i];
      if (member === undefined || !rawStringIs(bytes, member.keyStart, member.keyEnd, edit.name)) continue;
      fates[i] = value ?? 'remove';
      value = null;
    }
    if (value !== null) additions.push({ name: edit.name, value });
  }
  return { fates, additions };
}

/** Collects pieces while replacements come in document order. */
class Splicer {
  readonly #bytes: Uint8Array;
  readonly #pieces: Uint8Array[] = [];
  #copied = 0;
  #byteLength = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  replace(from: number, to: number, by?: Uint8Array): void {
    if (from > this.#copied) this.#push(this.#bytes.subarray(this.#copied, from));
    if (by !== undefined && by.length > 0) this.#push(by);
    this.#copied = to;
  }

  finish(): EditedBody {
    if (this.#copied < this.#bytes.length) this.#push(this.#bytes.subarray(this.#copied));
    return { pieces: this.#pieces, byteLength: this.#byteLength };
  }

  #push(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#byteLength += piece.length;
  }
}
