import { editDocument } from '../json/json-edit.js';
import { attemptOf, textOf } from './connector.contract-suite.js';
import { type PrefillToolChoice } from './connector.js';
import { prefillEdits } from './prefill-edits.js';

function rewritten(body: string, toolChoice: PrefillToolChoice = 'none'): string {
  const { document } = attemptOf(body);
  return textOf({ requestId: '', body: editDocument(document, prefillEdits(document, toolChoice)) });
}

describe('the prefill rewrite', () => {
  it.each([
    ['adds what is missing', '{}', '{"max_tokens":1,"stream":false}'],
    ['forces one token', '{"max_tokens":null,"stream":true}', '{"max_tokens":1,"stream":false}'],
    ['max_completion_tokens only where it stands', '{"max_tokens":9,"stream":false,"max_completion_tokens":null}', '{"max_tokens":1,"stream":false,"max_completion_tokens":1}'],
    ['min_tokens above one', '{"max_tokens":9,"stream":false,"min_tokens":5}', '{"max_tokens":1,"stream":false,"min_tokens":1}'],
    ['min_tokens of zero stays', '{"max_tokens":9,"stream":false,"min_tokens":0}', '{"max_tokens":1,"stream":false,"min_tokens":0}'],
    ['min_tokens of one stays as written', '{"max_tokens":9,"stream":false,"min_tokens":1.0}', '{"max_tokens":1,"stream":false,"min_tokens":1.0}'],
    ['min_tokens of another kind is the engine’s to refuse', '{"max_tokens":9,"stream":false,"min_tokens":"5"}', '{"max_tokens":1,"stream":false,"min_tokens":"5"}'],
    ['stream_options go', '{"stream":true,"stream_options":{"include_usage":true},"max_tokens":9}', '{"stream":false,"max_tokens":1}'],
    ['n and best_of where they stand', '{"n":4,"best_of":8,"max_tokens":9,"stream":false}', '{"n":1,"best_of":1,"max_tokens":1,"stream":false}'],
    ['logprobs go', '{"logprobs":true,"top_logprobs":5,"max_tokens":9,"stream":false}', '{"max_tokens":1,"stream":false}'],
    ['a forced tool', '{"tool_choice":"required","max_tokens":9,"stream":false}', '{"tool_choice":"none","max_tokens":1,"stream":false}'],
    ['a named tool', '{"tool_choice":{"type":"function"},"max_tokens":9,"stream":false}', '{"tool_choice":"none","max_tokens":1,"stream":false}'],
    ['a free tool choice stays', '{"tool_choice":"auto","max_tokens":9,"stream":false}', '{"tool_choice":"auto","max_tokens":1,"stream":false}'],
    ['of repeated members one is left', '{"max_tokens":9,"stream":true,"max_tokens":8,"stream":true}', '{"max_tokens":1,"stream":false}'],
  ])('%s', (_, body, result) => {
    expect(rewritten(body)).toBe(result);
  });

  it('keeps a forced tool when told so', () => {
    expect(rewritten('{"tool_choice":"required"}', 'keep')).toContain('"tool_choice":"required"');
  });
});
