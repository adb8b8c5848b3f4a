import { AnswerTail } from './answer-tail.js';

function tailOf(...chunks: readonly string[]): AnswerTail {
  const tail = new AnswerTail();
  for (const chunk of chunks) tail.note(Buffer.from(chunk));
  return tail;
}

const usage = '{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":8}}';
const read = { promptTokens: 10, completionTokens: 4, cachedTokens: 8 };

describe('the tail of an answer', () => {
  it('gives the usage of a whole answer, behind other members and between spaces', () => {
    expect(tailOf(`{"choices":[],"usage" : ${usage},"kv_transfer_params":null}`).usage()).toEqual(read);
    expect(tailOf('{"usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":null}}').usage()).toEqual({
      promptTokens: 1,
      completionTokens: 2,
      cachedTokens: null,
    });
  });

  it('gives the last usage object of a stream, cut at any byte', () => {
    const stream = `data: {"choices":[{"text":"a"}],"usage":null}\n\ndata: {"choices":[],"usage":${usage}}\n\ndata: [DONE]\n\n`;
    for (let cut = 0; cut <= stream.length; cut += 1) expect(tailOf(stream.slice(0, cut), stream.slice(cut)).usage()).toEqual(read);
    expect(tailOf(`data: {"usage":${usage}}\n\n`, 'data: {"usage":null}\n\n').usage()).toEqual(read);
  });

  it('gives nothing where there is none, or nonsense', () => {
    for (const text of ['', '{}', '{"usage":null}', '{"usage":7}', '{"usage":{}}', '{"usage":{"prompt_tokens":-1,"completion_tokens":2}}', 'data: {"usage":{"prompt', '"usage"'])
      expect(tailOf(text).usage()).toBeNull();
  });

  it('keeps no more than it needs of a long answer', () => {
    const tail = new AnswerTail();
    for (let index = 0; index < 10_000; index += 1) tail.note(Buffer.alloc(300, 'x'));
    tail.note(Buffer.from(`"usage":${usage}`));
    expect(tail.usage()).toEqual(read);
    const old = tailOf(`"usage":${usage}`, 'x'.repeat(9000));
    expect(old.usage()).toBeNull();
  });

  it('knows whether an event was cut', () => {
    for (const text of ['', 'data: 1\n\n', 'data: 1\r\n\r\n', 'data: 1\r\r']) expect(tailOf(text).betweenEvents).toBe(true);
    for (const text of ['d', 'data: 1\n', 'data: 1\r\n\r']) expect(tailOf(text).betweenEvents).toBe(false);
    expect(tailOf('data: 1\n', '\n').betweenEvents).toBe(true);
  });
});
