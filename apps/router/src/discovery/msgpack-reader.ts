/** What a registration frame may hold. `bigint` only for integers a number cannot hold. */
export type MsgpackValue = null | boolean | number | bigint | string | Uint8Array | readonly MsgpackValue[] | MsgpackMap;
export type MsgpackMap = ReadonlyMap<MsgpackValue, MsgpackValue>;

export type MsgpackRead = { readonly ok: true; readonly value: MsgpackValue } | { readonly ok: false; readonly reason: string };

const deepest = 16;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads one msgpack value that must fill `bytes`. Never throws; work and memory are bounded by `bytes.length`.
 *
 * A reader of our own, because frames come from whoever reaches the port and a general decoder is lenient where it
 * must not be: it keeps the last of duplicate keys, replaces broken UTF-8, interprets extension types (records,
 * references, errors), ignores what follows the value, and recurses as deep as the sender wishes. Format:
 * https://github.com/msgpack/msgpack/blob/master/spec.md
 */
export function readMsgpack(bytes: Uint8Array): MsgpackRead {
  const cursor = new Cursor(bytes);
  try {
    const value = cursor.value(0);
    return cursor.atEnd ? { ok: true, value } : { ok: false, reason: `${cursor.left} bytes follow the value` };
  } catch (error) {
    if (error instanceof Malformed) return { ok: false, reason: error.message };
    throw error;
  }
}

class Malformed extends Error {}

class Cursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  get atEnd(): boolean {
    return this.left === 0;
  }

  value(depth: number): MsgpackValue {
    const tag = this.#uint(1);
    if (tag <= 0x7f) return tag;
    if (tag <= 0x8f) return this.#map(tag & 0x0f, depth);
    if (tag <= 0x9f) return this.#array(tag & 0x0f, depth);
    if (tag <= 0xbf) return this.#text(tag & 0x1f);
    if (tag >= 0xe0) return tag - 0x100;
    switch (tag) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#take(this.#uint(1 << (tag - 0xc4)));
      case 0xca:
        return this.#view.getFloat32(this.#skip(4));
      case 0xcb:
        return this.#view.getFloat64(this.#skip(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#uint(1 << (tag - 0xcc));
      case 0xcf:
        return plain(this.#view.getBigUint64(this.#skip(8)));
      case 0xd0:
        return this.#view.getInt8(this.#skip(1));
      case 0xd1:
        return this.#view.getInt16(this.#skip(2));
      case 0xd2:
        return this.#view.getInt32(this.#skip(4));
      case 0xd3:
        return plain(this.#view.getBigInt64(this.#skip(8)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#uint(1 << (tag - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#uint(2 << (tag - 0xdc)), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#uint(2 << (tag - 0xde)), depth);
      default:
        throw new Malformed(tag === 0xc1 ? 'an unused type byte' : 'extension types are not taken');
    }
  }

  #map(size: number, depth: number): MsgpackMap {
    this.#room(2 * size, depth);
    const map = new Map<MsgpackValue, MsgpackValue>();
    for (let n = 0; n < size; n++) {
      const key = this.value(depth + 1);
      if (map.has(key)) throw new Malformed(`key ${typeof key === 'string' ? JSON.stringify(key.slice(0, 64)) : typeof key} comes twice`);
      map.set(key, this.value(depth + 1));
    }
    return map;
  }

  #array(size: number, depth: number): MsgpackValue[] {
    this.#room(size, depth);
    const items: MsgpackValue[] = [];
    for (let n = 0; n < size; n++) items.push(this.value(depth + 1));
    return items;
  }

  /** Every value takes at least a byte, so a count that cannot fit is refused before anything is made for it. */
  #room(values: number, depth: number): void {
    if (depth >= deepest) throw new Malformed(`nested deeper than ${deepest}`);
    if (values > this.left) throw new Malformed('cut short');
  }

  #text(length: number): string {
    const taken = this.#take(length);
    try {
      return utf8.decode(taken);
    } catch {
      throw new Malformed('a string is not UTF-8');
    }
  }

  #take(length: number): Uint8Array {
    const start = this.#skip(length);
    return this.#bytes.subarray(start, start + length);
  }

  #uint(width: number): number {
    const at = this.#skip(width);
    if (width === 1) return this.#view.getUint8(at);
    return width === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  #skip(length: number): number {
    if (length > this.left) throw new Malformed('cut short');
    const start = this.#at;
    this.#at += length;
    return start;
  }
}

function plain(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
