import { decodeUtf8, encodeUtf8 } from '../json/utf8.js';
import { readPrefillAnswer } from './prefill-answer.js';

function read(body: string) {
  const answer = readPrefillAnswer(encodeUtf8(body));
  if (answer.kind !== 'answer') throw new Error(answer.kind);
  return answer;
}

describe('a prefill answer', () => {
  it('tells how it ended and what it used', () => {
    const body = '{"choices":[{"message":{"finish_reason":"x"},"finish_reason":"length"},{"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":0}}}';
    expect(read(body)).toMatchObject({ finishReason: 'length', usage: { promptTokens: 9, completionTokens: 1, cachedTokens: 0 } });
  });

  it.each([
    ['{"choices":[],"usage":null}', null],
    ['{"choices":[1],"usage":{"prompt_tokens":-1,"completion_tokens":"1","prompt_tokens_details":null}}', { promptTokens: null, completionTokens: null, cachedTokens: null }],
    ['{"choices":{},"usage":{"prompt_tokens":1.5,"prompt_tokens_details":{"cached_tokens":null}}}', { promptTokens: null, completionTokens: null, cachedTokens: null }],
  ])('takes what is not a count for missing: %s', (body, usage) => {
    expect(read(body)).toMatchObject({ finishReason: null, usage });
  });

  it('keeps the last params object as it came', () => {
    const { params } = read('{"kv_transfer_params":{"old":1},"kv_transfer_p\\u0061rams": { "remote_engine_id" : "a", "big":9007199254740993 } }');
    expect(decodeUtf8(params!, 0, params!.length)).toBe('{ "remote_engine_id" : "a", "big":9007199254740993 }');
  });

  it.each(['null', '{}', '[]', '"x"', '7'])('sees no params in %s', (value) => {
    expect(read(`{"kv_transfer_params":${value}}`)).toMatchObject({ params: null, facts: { connector: null } });
  });

  it.each([
    ['{"remote_engine_id":"5f_dp12"}', 'nixl', '5f'],
    ['{"remote_engine_id":"5f_dp"}', 'nixl', '5f_dp'],
    ['{"engine_id":"own_dp0"}', 'nixl', 'own'],
    ['{"remote_engine_id":null,"do_remote_prefill":true}', 'nixl', null],
    ['{"remote_engine_id":"a","transfer_mode":"push"}', 'nixl-push', 'a'],
    ['{"remote_engine_id":"a","transfer_mode":"pull"}', 'nixl', 'a'],
  ])('learns from %s', (params, connector, engineId) => {
    expect(read(`{"kv_transfer_params":${params}}`).facts).toEqual({ connector, engineId });
  });

  it('does not take an empty error member for an error', () => {
    expect(read('{"error":null,"choices":[]}').kind).toBe('answer');
  });
});
