import fc from 'fast-check';
import { type JsonDocument, scanDocument } from './json-document.js';
import { editDocument, joinBody, type JsonEdit, removeMember, setMember } from './json-edit.js';
import { decodeUtf8, encodeUtf8 } from './utf8.js';

function documentOf(text: string): JsonDocument {
  const scan = scanDocument(encodeUtf8(text));
  if (scan.kind !== 'object') throw new Error(`not an object: ${text}`);
  return scan.document;
}

function edited(text: string, ...edits: JsonEdit[]): string {
  const body = editDocument(documentOf(text), edits);
  const joined = joinBody(body);
  expect(joined.length).toBe(body.byteLength);
  return decodeUtf8(joined, 0, joined.length);
}

interface Part {
  readonly name: string;
  readonly text: string;
}

function partsOf(text: string): Part[] {
  const { bytes, members } = documentOf(text);
  return members.map(({ keyStart, keyEnd, value }) => ({
    name: JSON.parse(decodeUtf8(bytes, keyStart, keyEnd)),
    text: decodeUtf8(bytes, keyStart, value.end),
  }));
}

/** What the contract says, member by member. */
function expectedParts(parts: readonly Part[], edits: readonly JsonEdit[]): string[] {
  const wanted = new Map<string, JsonEdit>();
  for (const edit of edits) {
    wanted.delete(edit.name);
    wanted.set(edit.name, edit);
  }
  const result: string[] = [];
  parts.forEach(({ name, text }, index) => {
    const edit = wanted.get(name);
    if (edit === undefined) result.push(text);
    else if (edit.kind === 'set' && !parts.some((later, at) => at > index && later.name === name)) {
      const upToValue = /^[^:]*:\s*/.exec(text)![0];
      result.push(upToValue + decodeUtf8(edit.value, 0, edit.value.length));
    }
  });
  for (const edit of wanted.values()) {
    if (edit.kind === 'set' && !parts.some(({ name }) => name === edit.name)) {
      result.push(`${JSON.stringify(edit.name)}:${decodeUtf8(edit.value, 0, edit.value.length)}`);
    }
  }
  return result;
}

const names = ['a', 'b', 'model', 'é'];
const spacing = fc.constantFrom('', '', ' ', '\n\t');
const nameText = fc.constantFrom(...names.flatMap((name) => [JSON.stringify(name), `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"`]));
/** Bytes that a parser would change, too. */
const valueText = fc.constantFrom('0', '7', '"x"', '[ ]', '{}', 'NaN', '12345678901234567890', '1.0', '"\\u0041"', 'null');
const member = fc.tuple(nameText, spacing, spacing, valueText).map(([name, before, after, value]) => `${name}${before}:${after}${value}`);
const documentText = fc
  .tuple(fc.constantFrom('', '\ufeff', ' '), spacing, fc.array(fc.tuple(spacing, member, spacing), { maxLength: 6 }), spacing)
  .map(([lead, inner, members, trail]) => `${lead}{${members.length === 0 ? inner : members.map((m) => m.join('')).join(',')}}${trail}`);
const edits = fc.array(
  fc.oneof(
    fc.tuple(fc.constantFrom(...names, 'new'), valueText).map(([name, value]) => setMember(name, value)),
    fc.constantFrom(...names, 'new').map((name) => removeMember(name)),
  ),
  { maxLength: 5 },
);

describe('editing a JSON document', () => {
  it('changes the wanted members and no byte of the others', () => {
    fc.assert(
      fc.property(documentText, edits, (text, wanted) => {
        const result = edited(text, ...wanted);
        expect(partsOf(result).map((part) => part.text)).toEqual(expectedParts(partsOf(text), wanted));
        expect(result.slice(0, result.indexOf('{'))).toBe(text.slice(0, text.indexOf('{')));
        expect(result.slice(result.lastIndexOf('}'))).toBe(text.slice(text.lastIndexOf('}')));
      }),
      { numRuns: 3000 },
    );
  });

  it('is what changing the parsed object gives', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names, 'c', 'd'), fc.jsonValue()), fc.constantFrom(undefined, 3), edits, (object, indent, wanted) => {
        const result: unknown = JSON.parse(edited(JSON.stringify(object, null, indent), ...wanted).replace(/NaN/g, '"NaN"'));
        const model: Record<string, unknown> = JSON.parse(JSON.stringify(object).replace(/NaN/g, '"NaN"'));
        for (const edit of wanted) {
          if (edit.kind === 'remove') Reflect.deleteProperty(model, edit.name);
          else model[edit.name] = JSON.parse(decodeUtf8(edit.value, 0, edit.value.length).replace('NaN', '"NaN"'));
        }
        expect(result).toEqual(model);
      }),
    );
  });

  it.each([
    ['{"a":1,"b":2,"c":3}', 'a', '{"b":2,"c":3}'],
    ['{"a":1,"b":2,"c":3}', 'b', '{"a":1,"c":3}'],
    ['{"a":1,"b":2,"c":3}', 'c', '{"a":1,"b":2}'],
    ['{ "a" : 1 }', 'a', '{  }'],
    ['{ "a" : 1 , "b" : 2 }', 'a', '{ "b" : 2 }'],
    ['{ "a" : 1 , "b" : 2 }', 'b', '{ "a" : 1 }'],
    ['{"a":1,"b":2,"a":3,"\\u0061":4}', 'a', '{"b":2}'],
    ['{"b":2,"a":3,"\\u0061":4,"c":5}', 'a', '{"b":2,"c":5}'],
    ['{}', 'a', '{}'],
  ])('takes one comma along: %s without %s is %s', (text, name, result) => {
    expect(edited(text, removeMember(name))).toBe(result);
  });

  it.each([
    ['{}', '{"n":1}'],
    ['{ }', '{"n":1 }'],
    ['\ufeff {"a":2 }\n', '\ufeff {"a":2,"n":1 }\n'],
    ['{"n" :\t{"x":[]} , "a":2}', '{"n" :\t1 , "a":2}'],
    ['{"n":5,"a":2,"\\u006e":6}', '{"a":2,"\\u006e":1}'],
  ])('sets a member: %j becomes %j', (text, result) => {
    expect(edited(text, setMember('n', '1'))).toBe(result);
  });

  it('fills an object that it empties', () => {
    expect(edited('{ "a":1, "b":2 }', removeMember('a'), removeMember('b'), setMember('c', '3'), setMember('d', '4'))).toBe('{ "c":3,"d":4 }');
  });

  it('lets the last of several edits of one name count', () => {
    expect(edited('{"a":1}', removeMember('a'), setMember('a', '2'))).toBe('{"a":2}');
    expect(edited('{"a":1}', setMember('a', '2'), removeMember('a'))).toBe('{}');
  });

  it('shares the untouched bytes with the original', () => {
    const document = documentOf(`{"prompt":"${'x'.repeat(10_000)}","stream":true}`);
    const { pieces } = editDocument(document, [setMember('stream', 'false')]);
    expect(pieces.filter((piece) => piece.buffer === document.bytes.buffer).reduce((sum, piece) => sum + piece.length, 0)).toBe(
      document.bytes.length - 'true'.length,
    );
    expect(joinBody(editDocument(document, []))).toEqual(document.bytes);
  });
});
