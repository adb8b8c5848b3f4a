import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { readMsgpack } from './msgpack-reader.js';

const packr = new Packr({ useRecords: false, variableMapSize: true });
const bytes = (...list: number[]) => Uint8Array.from(list);

/** Maps as objects, so that both sides compare as JSON-like data. */
function asObjects(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [String(key), asObjects(item)]));
  if (Array.isArray(value)) return value.map(asObjects);
  return value;
}

const leaf = fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true }).map((n) => n + 0 || 0), fc.string({ unit: 'binary', maxLength: 400 }));
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    leaf,
    fc.array(tie('tree'), { maxLength: 30 }),
    fc.dictionary(fc.string({ unit: 'grapheme' }).filter((key) => key !== '__proto__'), tie('tree'), { maxKeys: 30 }),
  ),
}));

it('reads what a packer of others writes', () => {
  fc.assert(
    fc.property(tree, (value) => {
      const read = readMsgpack(packr.pack(value));
      expect(read.ok && asObjects(read.value)).toEqual(value);
    }),
    { numRuns: 300 },
  );
});

it.each([
  ['uint64 beyond a number', bytes(0xcf, 255, 255, 255, 255, 255, 255, 255, 255), 2n ** 64n - 1n],
  ['uint64 within', bytes(0xcf, 0, 0, 0, 0, 0, 0, 0, 7), 7],
  ['int64', bytes(0xd3, 255, 255, 255, 255, 255, 255, 255, 254), -2],
  ['int8', bytes(0xd0, 0x80), -128],
  ['int16', bytes(0xd1, 0x80, 0), -32_768],
  ['int32', bytes(0xd2, 0x80, 0, 0, 0), -(2 ** 31)],
  ['negative fixint', bytes(0xe0), -32],
  ['float32', bytes(0xca, 0x3f, 0x80, 0, 0), 1],
  ['bin', bytes(0xc4, 1, 9), bytes(9)],
  ['str8', bytes(0xd9, 1, 0x61), 'a'],
  ['str16', bytes(0xda, 0, 1, 0x61), 'a'],
  ['str32', bytes(0xdb, 0, 0, 0, 1, 0x61), 'a'],
  ['array16', bytes(0xdc, 0, 1, 1), [1]],
  ['array32', bytes(0xdd, 0, 0, 0, 1, 1), [1]],
  ['map16', bytes(0xde, 0, 1, 1, 2), new Map([[1, 2]])],
  ['map32', bytes(0xdf, 0, 0, 0, 1, 1, 2), new Map([[1, 2]])],
])('reads %s', (_, input, value) => {
  expect(readMsgpack(input)).toEqual({ ok: true, value });
});

it.each([
  ['nothing', bytes(), /cut short/],
  ['a string cut short', bytes(0xa5, 0x61), /cut short/],
  ['a number cut short', bytes(0xcb, 0), /cut short/],
  ['a map cut short', bytes(0x82, 1, 1), /cut short/],
  ['an array of four billion', bytes(0xdd, 255, 255, 255, 255), /cut short/],
  ['a map of four billion', bytes(0xdf, 255, 255, 255, 255), /cut short/],
  ['bytes after the value', bytes(1, 1), /follow/],
  ['the unused type', bytes(0xc1), /unused/],
  ['a timestamp extension', bytes(0xd6, 255, 0, 0, 0, 0), /extension/],
  ['a record extension', bytes(0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 1), /extension/],
  ['a sized extension', bytes(0xc7, 0, 1), /extension/],
  ['duplicate keys', bytes(0x82, 0xa1, 0x61, 1, 0xa1, 0x61, 2), /"a" comes twice/],
  ['broken UTF-8', bytes(0xa2, 0xc3, 0x28), /UTF-8/],
  ['10,000 nested arrays', new Uint8Array(10_000).fill(0x91), /deeper/],
  ['10,000 nested maps', new Uint8Array(10_000).fill(0x81), /deeper/],
])('refuses %s', (_, input, reason) => {
  const read = readMsgpack(input);
  expect(read.ok ? 'taken' : read.reason).toMatch(reason);
});

it('neither throws nor grows on any bytes', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (input) => typeof readMsgpack(input).ok === 'boolean'), { numRuns: 5000 });
});
