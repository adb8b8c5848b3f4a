import { FirstEventScanner, opensWithError } from './first-event.js';

const completesAt = (text: string): number => {
  const scanner = new FirstEventScanner();
  return [...Buffer.from(text)].findIndex((byte) => scanner.completes(Uint8Array.of(byte)));
};

describe('the first event', () => {
  it.each(['data: x\n\n', 'data: x\r\n\r\n', 'data: x\r\r', ': comment\n\ndata: x\n\n', '\n\ndata: x\n\n', 'event: a\r\ndata: x\n\n'])('of %j is complete with its blank line, whole or byte by byte', (text) => {
    expect(new FirstEventScanner().completes(Buffer.from(text))).toBe(true);
    expect(new FirstEventScanner().completes(Buffer.from(text.replace(/[\r\n]+$/, '\n')))).toBe(false);
    expect(new FirstEventScanner().completes(Buffer.from(': comment\n\n'))).toBe(false);
    const at = completesAt(text);
    expect(at).toBeGreaterThan(text.trimEnd().length);
  });

  it.each([
    ['data: {"error":{"message":"x"}}\n\n', true],
    ['data:{"error":{}}\r\n\r\n', true],
    ['event: error\ndata: {"error":\ndata: {"code":1}}\n\n', true],
    ['data: {"choices":[],"error":null}\n\n', false],
    ['data: {"error":"text"}\n\n', false],
    ['data: {"choices":[{"delta":{"content":"\\"error\\""}}]}\n\n', false],
    ['data: {"a":1}\n\ndata: {"error":{}}\n\n', false],
    [': "error"\n\n', false],
    ['data: {"error":{', false],
  ])('%j opens with an error: %s', (text, expected) => {
    expect(opensWithError(text)).toBe(expected);
  });
});
