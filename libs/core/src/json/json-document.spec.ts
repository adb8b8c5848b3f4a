import fc from 'fast-check';
import { type JsonScan, scanDocument, valueOf } from './json-document.js';
import { decodeUtf8, encodeUtf8 } from './utf8.js';

const fatalDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text's bytes at an offset inside a larger buffer, as request bodies lie in Node's pool. */
function placed(bytes: Uint8Array, shift: number): Uint8Array {
  const pool = new Uint8Array(bytes.length + shift + 8).fill(0x22);
  pool.set(bytes, shift);
  return pool.subarray(shift, shift + bytes.length);
}

function scanText(text: string): JsonScan {
  return scanDocument(encodeUtf8(text));
}

function textOrNull(bytes: Uint8Array): string | null {
  try {
    return fatalDecoder.decode(bytes).replace(/^\ufeff/, '');
  } catch {
    return null;
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const spacing = fc.constantFrom('', ' ', '\n', '\t\r\n  ');

/** JSON text as a careless or a careful client writes it. */
const jsonText = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'), fc.boolean())
  .map(([value, indent, ascii]) => {
    const text = JSON.stringify(value, null, indent);
    return ascii ? text.replace(/[^\x20-\x7e\n\t]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`) : text;
  });

describe('scanning a JSON document', () => {
  it('accepts whatever JSON.parse accepts, at any alignment', () => {
    fc.assert(
      fc.property(jsonText, spacing, spacing, fc.nat(3), (text, before, after, shift) => {
        const scan = scanDocument(placed(encodeUtf8(before + text + after), shift));
        expect(scan.kind).toBe(/^\{/.test(text) ? 'object' : 'not_object');
      }),
      { numRuns: 1000 },
    );
  });

  it('agrees with JSON.parse on damaged documents, NaN and the infinities aside', () => {
    const damage = fc.array(
      fc.record({ at: fc.nat(), byte: fc.oneof(fc.nat(255), fc.constantFrom(...encodeUtf8('{}[]",:\\0-.eEu\n'))), how: fc.constantFrom('set', 'insert', 'delete') }),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(jsonText, damage, fc.nat(3), (text, hits, shift) => {
        const bytes = [...encodeUtf8(text)];
        for (const { at, byte, how } of hits) {
          const index = at % (bytes.length + 1);
          bytes.splice(index, how === 'insert' ? 0 : 1, ...(how === 'delete' ? [] : [byte]));
        }
        const damaged = Uint8Array.from(bytes);
        const accepted = scanDocument(placed(damaged, shift)).kind !== 'invalid';
        const decoded = textOrNull(damaged);
        if (decoded === null) expect(accepted).toBe(false);
        else if (parses(decoded)) expect(accepted).toBe(true);
        else if (accepted) expect(parses(decoded.replace(/-?Infinity|NaN/g, '0'))).toBe(true);
      }),
      { numRuns: 4000 },
    );
  });

  it('judges every byte value at every place of a string as JSON.parse does', () => {
    const template = encodeUtf8('{"a":"bcdefghijklmnopqrs"}');
    for (let at = 6; at < 20; at++) {
      for (let byte = 0; byte < 256; byte++) {
        const text = template.with(at, byte);
        const decoded = textOrNull(text);
        expect([at, byte, scanDocument(text).kind]).toEqual([at, byte, decoded !== null && parses(decoded) ? 'object' : 'invalid']);
      }
    }
  });

  it('finds every member: the value of a name is the one JSON.parse keeps', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), fc.constantFrom(undefined, 2), fc.nat(3), (object, indent, shift) => {
        const bytes = placed(encodeUtf8(JSON.stringify(object, null, indent)), shift);
        const scan = scanDocument(bytes);
        if (scan.kind !== 'object') throw new Error(scan.kind);
        for (const [name, value] of Object.entries(object)) {
          const range = valueOf(scan.document, name);
          expect(JSON.stringify(JSON.parse(decodeUtf8(bytes, range!.start, range!.end)))).toBe(JSON.stringify(value));
        }
        expect(scan.document.members).toHaveLength(Object.keys(object).length);
      }),
    );
  });

  it('compares names after unescaping and takes the last of several', () => {
    const scan = scanText('{"model":1,"\\u006dod\\u0065l":2,"mod\\/el":3,"modell":4}');
    if (scan.kind !== 'object') throw new Error(scan.kind);
    const { bytes } = scan.document;
    const read = (name: string) => {
      const range = valueOf(scan.document, name);
      return range && decodeUtf8(bytes, range.start, range.end);
    };
    expect([read('model'), read('mod/el'), read('mode'), read('modell')]).toEqual(['2', '3', undefined, '4']);
  });

  it('passes NaN, the infinities and a UTF-8 BOM', () => {
    for (const text of ['{"a":NaN}', '{"a":Infinity}', '{"a":[-Infinity,NaN]}', '\ufeff{"a":1}']) {
      expect(scanText(text).kind).toBe('object');
    }
  });

  it('tells a document that is no object from a broken one', () => {
    expect(scanText(' [1] ')).toEqual({ kind: 'not_object', valueKind: 'array' });
    expect(scanText('"{}"')).toEqual({ kind: 'not_object', valueKind: 'string' });
    expect(scanText('-0')).toEqual({ kind: 'not_object', valueKind: 'number' });
    expect(scanText('true')).toEqual({ kind: 'not_object', valueKind: 'boolean' });
    expect(scanText('null')).toEqual({ kind: 'not_object', valueKind: 'null' });
  });

  it.each([
    ['', 0, 'unexpected end, expected a value'],
    ['   ', 3, 'unexpected end, expected a value'],
    ['{"a":1', 6, "unexpected end, expected ',' or '}'"],
    ['{"a":1}x', 7, 'expected the end of the document'],
    ['{"a":1}{"b":2}', 7, 'expected the end of the document'],
    ['{"a":1,}', 7, 'expected a member name'],
    ['{,"a":1}', 1, "expected a member name or '}'"],
    ['{"a" 1}', 5, "expected ':'"],
    ['{"a":}', 5, 'expected a value'],
    ['{"a":[1,]}', 8, 'expected a value'],
    ['{"a":[1 2]}', 8, "expected ',' or ']'"],
    ['{"a":{"b":[}}', 11, 'expected a value'],
    ['{"a":[{]}', 7, "expected a member name or '}'"],
    ["{'a':1}", 1, "expected a member name or '}'"],
    ['{"a":01}', 6, "expected ',' or '}'"],
    ['{"a":.5}', 5, 'expected a value'],
    ['{"a":1.}', 7, 'expected a digit'],
    ['{"a":1e+}', 8, 'expected a digit'],
    ['{"a":+1}', 5, 'expected a value'],
    ['{"a":-}', 6, 'expected a digit'],
    ['{"a":-NaN}', 6, 'expected a digit'],
    ['{"a":tru}', 8, 'expected a value'],
    ['{"a":undefined}', 5, 'expected a value'],
    ['{"a":"b\nc"}', 7, 'control character in a string'],
    ['{"a":"aaaaaaaaaaaaaaaaaaaaa\u0001"}', 27, 'control character in a string'],
    ['{"a":"\\x"}', 7, 'expected an escape'],
    ['{"a":"\\u12g4"}', 10, 'expected four hexadecimal digits'],
    ['{"a":"b', 7, 'unterminated string'],
    ['{"a":1}\u00a0', 7, 'expected the end of the document'],
    ['{"a":1 /* b */}', 7, "expected ',' or '}'"],
  ])('refuses %j at byte %i', (text, offset, reason) => {
    expect(scanText(text)).toEqual({ kind: 'invalid', failure: { kind: 'syntax', offset, reason } });
  });

  it.each([
    ['UTF-16 LE with BOM', [0xff, 0xfe, 0x7b, 0, 0x7d, 0]],
    ['UTF-16 BE with BOM', [0xfe, 0xff, 0, 0x7b, 0, 0x7d]],
    ['UTF-16 LE', [0x7b, 0, 0x7d, 0]],
    ['UTF-16 BE', [0, 0x7b, 0, 0x7d]],
    ['UTF-32 LE', [0x7b, 0, 0, 0, 0x7d, 0, 0, 0]],
    ['UTF-16 LE of {"a":1}', [...encodeUtf8('{"a":1}')].flatMap((byte) => [byte, 0])],
    ['latin-1', [...encodeUtf8('{"a":"'), 0xe9, ...encodeUtf8('"}')]],
    ['an overlong form', [...encodeUtf8('{"a":"'), 0xc0, 0xaf, ...encodeUtf8('"}')]],
    ['an encoded surrogate', [...encodeUtf8('{"a":"'), 0xed, 0xa0, 0x80, ...encodeUtf8('"}')]],
    ['a code point too large', [...encodeUtf8('{"a":"'), 0xf4, 0x90, 0x80, 0x80, ...encodeUtf8('"}')]],
    ['a sequence cut short', [...encodeUtf8('{"a":"'), 0xe2, 0x82]],
    ['a stray byte between tokens', [0x7b, 0x80, 0x7d]],
  ])('calls %s another encoding', (_, bytes) => {
    expect(scanDocument(Uint8Array.from(bytes))).toMatchObject({ kind: 'invalid', failure: { kind: 'other_encoding' } });
  });

  it('takes nesting of any depth', () => {
    const depth = 1 << 20;
    expect(scanText('['.repeat(depth) + ']'.repeat(depth)).kind).toBe('not_object');
    expect(scanText(`{"a":${'{"a":['.repeat(depth / 4)}1${']}'.repeat(depth / 4)}}`).kind).toBe('object');
    expect(scanText('['.repeat(depth))).toMatchObject({ kind: 'invalid', failure: { offset: depth } });
    expect(scanText(`{"a":${'[{"b":'.repeat(1000)}1${'}]'.repeat(999)}]}}`)).toMatchObject({ kind: 'invalid', failure: { kind: 'syntax' } });
  });

  it('lets a visitor read a value and skips what it leaves', () => {
    const seen: string[] = [];
    const scan = scanDocument(encodeUtf8('{"skip":[1,{"x":2}],"read":[true, {"y":1}, "z"],"last":0}'), (reader) => {
      if (!reader.keyIs('read')) return;
      for (let more = reader.enterArray(); more; more = reader.nextElement()) {
        seen.push(String(reader.valueKind()));
        reader.skipValue();
      }
    });
    expect(seen).toEqual(['boolean', 'object', 'string']);
    expect(scan.kind === 'object' && scan.document.members.map(({ value }) => value.end - value.start)).toEqual([11, 20, 1]);
  });
});
