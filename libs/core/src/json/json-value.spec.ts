import fc from 'fast-check';
import { booleanAt, kindAt, numberAt, rawAt, rawStringIs, stringAt } from './json-value.js';
import { encodeUtf8 } from './utf8.js';

function whole(text: string) {
  const bytes = encodeUtf8(text);
  return [bytes, { start: 0, end: bytes.length }] as const;
}

const anyString = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', minLength: 40 }), fc.string({ unit: 'binary-ascii' }));

describe('reading a JSON value', () => {
  it('unescapes strings as JSON.parse does', () => {
    fc.assert(
      fc.property(anyString, fc.boolean(), (text, ascii) => {
        const json = ascii
          ? `"${Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`
          : JSON.stringify(text);
        expect(stringAt(...whole(json))).toBe(JSON.parse(json));
        expect(rawStringIs(encodeUtf8(json), 0, encodeUtf8(json).length, text)).toBe(true);
      }),
    );
  });

  it('tells names apart exactly', () => {
    fc.assert(
      fc.property(anyString, anyString, (text, other) => {
        const bytes = encodeUtf8(JSON.stringify(text));
        expect(rawStringIs(bytes, 0, bytes.length, other)).toBe(text === other);
      }),
    );
  });

  it('keeps a byte order mark inside a string', () => {
    expect(stringAt(...whole('"\ufeffa"'))).toBe('\ufeffa');
  });

  it('reads a scalar of its own kind only', () => {
    expect(booleanAt(...whole('true'))).toBe(true);
    expect(booleanAt(...whole('false'))).toBe(false);
    expect(booleanAt(...whole('"true"'))).toBeNull();
    expect(numberAt(...whole('-1.5e3'))).toBe(-1500);
    expect(numberAt(...whole('NaN'))).toBeNaN();
    expect(numberAt(...whole('-Infinity'))).toBe(-Infinity);
    expect(numberAt(...whole('"1"'))).toBeNull();
    expect(stringAt(...whole('1'))).toBeNull();
    expect(['{}', '[]', '""', '0', '-1', 'true', 'false', 'null', 'Infinity'].map((text) => kindAt(...whole(text)))).toEqual([
      'object', 'array', 'string', 'number', 'number', 'boolean', 'boolean', 'null', 'number',
    ]);
  });

  it('gives the raw bytes as they stand', () => {
    expect(rawAt(encodeUtf8('{"a":1.0}'), { start: 5, end: 8 })).toEqual(encodeUtf8('1.0'));
  });
});
