import { type JsonFailure, type JsonKind } from './json-failure.js';
import { rawStringIs } from './json-value.js';
import { encodeUtf8, sequenceLength } from './utf8.js';

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quote = 0x22;
const plus = 0x2b;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** By first byte. */
const literals: Readonly<Record<number, Uint8Array>> = Object.fromEntries(
  ['true', 'false', 'null', 'NaN', 'Infinity'].map((text) => [text.charCodeAt(0), encodeUtf8(text)]),
);

/**
 * A pull reader over one UTF-8 JSON text: it checks every byte once and builds nothing.
 *
 * The caller walks the levels it cares about (`enterObject`/`nextMember`, `enterArray`/`nextElement`) and skips the
 * rest with `skipValue`, which keeps its nesting in bits, so depth costs memory of one bit a level and no call stack.
 * The grammar is RFC 8259 plus the tokens `NaN`, `Infinity` and `-Infinity`, which Python writes and reads.
 * After a failure every call returns false and `failure` tells the first one.
 */
export class JsonReader {
  readonly bytes: Uint8Array;
  /** Start of the member name last read, at its opening quote. */
  keyStart = 0;
  /** End of that name, behind its closing quote. */
  keyEnd = 0;

  readonly #end: number;
  /** The same memory in aligned words, so that strings are skipped four bytes a step. */
  readonly #words: Int32Array;
  /** Offset of the first word in `bytes`. */
  readonly #wordBase: number;
  #position = 0;
  #failure: JsonFailure | null = null;
  /** One bit a nesting level of `skipValue`: set for objects. */
  #levels = new Int32Array(4);

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#end = bytes.length;
    this.#wordBase = -bytes.byteOffset & 3;
    const wordCount = Math.max(0, (bytes.length - this.#wordBase) >> 2);
    this.#words =
      wordCount === 0 ? new Int32Array(0) : new Int32Array(bytes.buffer, bytes.byteOffset + this.#wordBase, wordCount);
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.#position = 3;
  }

  get failure(): JsonFailure | null {
    return this.#failure;
  }

  /** Offset of the next unread byte: directly behind what was read last, or at a value that is to be read. */
  get position(): number {
    return this.#position;
  }

  /** Whether the member name last read is `name`, after unescaping. */
  keyIs(name: string): boolean {
    return rawStringIs(this.bytes, this.keyStart, this.keyEnd, name);
  }

  /** Moves to the next value and tells its kind by its first byte; `null` and a failure when there is none. */
  valueKind(): JsonKind | null {
    if (this.#failure !== null) return null;
    this.#position = this.#spaces(this.#position);
    const first = this.#at(this.#position);
    switch (first) {
      case quote:
        return 'string';
      case openBrace:
        return 'object';
      case openBracket:
        return 'array';
      case 0x74:
      case 0x66:
        return 'boolean';
      case 0x6e:
        return 'null';
      default:
        if (first === minus || first === 0x4e || first === 0x49 || isDigit(first)) return 'number';
        this.#unexpected(this.#position, 'a value');
        return null;
    }
  }

  /** Reads `{` and the first member's name and colon; false when the object is empty (and read) or on failure. */
  enterObject(): boolean {
    if (this.#failure !== null) return false;
    const open = this.#spaces(this.#position);
    if (this.#at(open) !== openBrace) return this.#unexpected(open, 'an object');
    const at = this.#spaces(open + 1);
    if (this.#at(at) === closeBrace) {
      this.#position = at + 1;
      return false;
    }
    return this.#memberName(at, "a member name or '}'");
  }

  /** Behind a member's value: reads on to the next member's value; false when the object ended or on failure. */
  nextMember(): boolean {
    if (this.#failure !== null) return false;
    const at = this.#spaces(this.#position);
    const byte = this.#at(at);
    if (byte === comma) return this.#memberName(this.#spaces(at + 1), 'a member name');
    if (byte !== closeBrace) return this.#unexpected(at, "',' or '}'");
    this.#position = at + 1;
    return false;
  }

  /** Reads `[`; false when the array is empty (and read) or on failure. */
  enterArray(): boolean {
    if (this.#failure !== null) return false;
    const open = this.#spaces(this.#position);
    if (this.#at(open) !== openBracket) return this.#unexpected(open, 'an array');
    this.#position = this.#spaces(open + 1);
    if (this.#at(this.#position) !== closeBracket) return true;
    this.#position++;
    return false;
  }

  /** Behind an element: reads on to the next one; false when the array ended or on failure. */
  nextElement(): boolean {
    if (this.#failure !== null) return false;
    const at = this.#spaces(this.#position);
    const byte = this.#at(at);
    if (byte === comma) {
      this.#position = this.#spaces(at + 1);
      return true;
    }
    if (byte !== closeBracket) return this.#unexpected(at, "',' or ']'");
    this.#position = at + 1;
    return false;
  }

  /** After the outermost value: whether nothing but white space follows. */
  atEnd(): boolean {
    if (this.#failure !== null) return false;
    this.#position = this.#spaces(this.#position);
    return this.#position === this.#end || this.#unexpected(this.#position, 'the end of the document');
  }

  /** Checks and skips one value of any depth. Linear in its bytes. */
  skipValue(): boolean {
    if (this.#failure !== null) return false;
    let at = this.#position;
    let depth = 0;
    for (;;) {
      at = this.#spaces(at);
      const first = this.#at(at);
      if (first === quote) {
        at = this.#string(at);
        if (at < 0) return false;
      } else if (first === openBrace) {
        at = this.#spaces(at + 1);
        if (this.#at(at) === closeBrace) {
          at++;
        } else {
          this.#pushLevel(depth++, 1);
          at = this.#name(at, "a member name or '}'");
          if (at < 0) return false;
          continue;
        }
      } else if (first === openBracket) {
        at = this.#spaces(at + 1);
        if (this.#at(at) !== closeBracket) {
          this.#pushLevel(depth++, 0);
          continue;
        }
        at++;
      } else {
        at = first === minus || isDigit(first) ? this.#number(at) : this.#literal(at, first);
        if (at < 0) return false;
      }
      // A value is complete: close what ends here, until another value must follow.
      for (;;) {
        if (depth === 0) {
          this.#position = at;
          return true;
        }
        at = this.#spaces(at);
        const byte = this.#at(at);
        const inObject = this.#isObjectLevel(depth - 1);
        if (byte === comma) {
          at++;
          if (inObject) {
            at = this.#name(this.#spaces(at), 'a member name');
            if (at < 0) return false;
          }
          break;
        }
        if (byte !== (inObject ? closeBrace : closeBracket)) {
          return this.#unexpected(at, inObject ? "',' or '}'" : "',' or ']'");
        }
        at++;
        depth--;
      }
    }
  }

  #at(at: number): number {
    return at < this.#end ? (this.bytes[at] ?? 0) : 0;
  }

  #spaces(at: number): number {
    const { bytes } = this;
    const end = this.#end;
    let i = at;
    while (i < end) {
      const byte = bytes[i] ?? 0;
      if (byte > space || (byte !== space && byte !== lineFeed && byte !== carriageReturn && byte !== tab)) return i;
      i++;
    }
    return i;
  }

  #memberName(at: number, expected: string): boolean {
    const nameStart = at;
    const valueAt = this.#name(at, expected);
    if (valueAt < 0) return false;
    this.keyStart = nameStart;
    this.keyEnd = this.#nameEnd;
    this.#position = valueAt;
    return true;
  }

  #nameEnd = 0;

  /** Reads a member name and its colon; the value's offset, -1 on failure. */
  #name(at: number, expected: string): number {
    if (this.#at(at) !== quote) {
      this.#unexpected(at, expected);
      return -1;
    }
    const nameEnd = this.#string(at);
    if (nameEnd < 0) return -1;
    this.#nameEnd = nameEnd;
    const colonAt = this.#spaces(nameEnd);
    if (this.#at(colonAt) !== colon) {
      this.#unexpected(colonAt, "':'");
      return -1;
    }
    return this.#spaces(colonAt + 1);
  }

  /** Reads the string whose opening quote is at `at`; the offset behind its closing quote, -1 on failure. */
  #string(at: number): number {
    const { bytes } = this;
    const words = this.#words;
    const wordCount = words.length;
    const wordBase = this.#wordBase;
    const end = this.#end;
    let i = at + 1;
    while (i < end) {
      const byte = bytes[i] ?? 0;
      if (byte === quote) return i + 1;
      if (byte === backslash) {
        const length = this.#escape(i);
        if (length === 0) return -1;
        i += length;
      } else if (byte >= 0x80) {
        const length = sequenceLength(bytes, i, end);
        if (length === 0) {
          this.#fail('other_encoding', i, 'not UTF-8');
          return -1;
        }
        i += length;
      } else if (byte < space) {
        this.#fail('syntax', i, 'control character in a string');
        return -1;
      } else {
        i++;
        if (((i - wordBase) & 3) === 0) {
          // Whole words without quote, backslash, control or non-ASCII byte: each of these leaves a top bit (a byte
          // from 0x80 on in one of the last two terms). A borrow only makes a plain byte above such a one look
          // special, and the byte loop decides then.
          let word = (i - wordBase) >> 2;
          while (word < wordCount) {
            const four = words[word] ?? 0;
            const special = (four - 0x20202020) | ((four ^ 0x22222222) - 0x01010101) | ((four ^ 0x5c5c5c5c) - 0x01010101);
            if ((special & 0x80808080) !== 0) break;
            word++;
          }
          i = (word << 2) + wordBase;
        }
      }
    }
    this.#fail('syntax', end, 'unterminated string');
    return -1;
  }

  /** Length of the escape at `at`, 0 on failure. */
  #escape(at: number): number {
    switch (this.#at(at + 1)) {
      case quote:
      case backslash:
      case 0x2f:
      case 0x62:
      case 0x66:
      case 0x6e:
      case 0x72:
      case 0x74:
        return 2;
      case 0x75:
        for (let i = at + 2; i < at + 6; i++) {
          if (!isHexDigit(this.#at(i))) {
            this.#unexpected(i, 'four hexadecimal digits');
            return 0;
          }
        }
        return 6;
      default:
        this.#unexpected(at + 1, 'an escape');
        return 0;
    }
  }

  #number(at: number): number {
    let i = at;
    if (this.#at(i) === minus) i++;
    const first = this.#at(i);
    if (first === 0x49) return this.#literal(i, first);
    if (first === zero) {
      i++;
    } else {
      i = this.#digits(i);
      if (i < 0) return -1;
    }
    if (this.#at(i) === dot) {
      i = this.#digits(i + 1);
      if (i < 0) return -1;
    }
    const exponent = this.#at(i);
    if (exponent === 0x65 || exponent === 0x45) {
      const sign = this.#at(i + 1);
      i = this.#digits(sign === plus || sign === minus ? i + 2 : i + 1);
    }
    return i;
  }

  /** One digit or more; -1 on failure. */
  #digits(at: number): number {
    let i = at;
    while (isDigit(this.#at(i))) i++;
    if (i > at) return i;
    this.#unexpected(at, 'a digit');
    return -1;
  }

  #literal(at: number, first: number): number {
    const literal = literals[first];
    if (literal === undefined) {
      this.#unexpected(at, 'a value');
      return -1;
    }
    for (let i = 0; i < literal.length; i++) {
      if (this.#at(at + i) !== literal[i]) {
        this.#unexpected(at + i, 'a value');
        return -1;
      }
    }
    return at + literal.length;
  }

  #pushLevel(level: number, bit: 0 | 1): void {
    const word = level >> 5;
    if (word === this.#levels.length) {
      const grown = new Int32Array(word * 2);
      grown.set(this.#levels);
      this.#levels = grown;
    }
    const mask = 1 << (level & 31);
    const old = this.#levels[word] ?? 0;
    this.#levels[word] = bit === 1 ? old | mask : old & ~mask;
  }

  #isObjectLevel(level: number): boolean {
    return (((this.#levels[level >> 5] ?? 0) >>> (level & 31)) & 1) === 1;
  }

  #unexpected(at: number, expected: string): false {
    if (at >= this.#end) return this.#fail('syntax', this.#end, `unexpected end, expected ${expected}`);
    if (this.#at(at) >= 0x80 && sequenceLength(this.bytes, at, this.#end) === 0) {
      return this.#fail('other_encoding', at, 'not UTF-8');
    }
    return this.#fail('syntax', at, `expected ${expected}`);
  }

  #fail(kind: JsonFailure['kind'], offset: number, reason: string): false {
    // JSON starts with two ASCII characters, so a zero byte among the first four means UTF-16 or UTF-32 (RFC 4627, 3).
    const wide = kind === 'syntax' && this.bytes.subarray(0, 4).includes(0);
    this.#failure ??= wide ? { kind: 'other_encoding', offset: 0, reason: 'UTF-16 or UTF-32' } : { kind, offset, reason };
    return false;
  }
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine;
}

function isHexDigit(byte: number): boolean {
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}
