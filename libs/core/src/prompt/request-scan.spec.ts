import { decodeUtf8, encodeUtf8 } from '../json/utf8.js';
import { type PromptApi } from './prompt-text.js';
import { scanRequest, type ScannedRequest } from './request-scan.js';

function scanned(body: unknown, api: PromptApi = 'chat'): ScannedRequest {
  const scan = scanRequest(encodeUtf8(typeof body === 'string' ? body : JSON.stringify(body)), api);
  if (scan.kind !== 'request') throw new Error(scan.message);
  return scan.request;
}

function promptTexts(body: unknown, api: PromptApi = 'chat'): string[] | 'none' {
  const { document, prompt } = scanned(body, api);
  if (prompt.kind === 'none') return 'none';
  const ranges = prompt.kind === 'text' ? prompt.ranges : [prompt.range];
  return ranges.map(({ start, end }) => decodeUtf8(document.bytes, start, end));
}

describe('scanRequest', () => {
  it('reads what routing needs', () => {
    const request = scanned({ model: 'org/mødel', messages: [], stream: true, n: 3, cache_salt: 's' });
    expect(request).toMatchObject({ model: 'org/mødel', stream: true, n: 3, cacheSalt: 's', sessionKey: null });
  });

  it('falls back where members are absent or of another kind', () => {
    const nothing = { model: null, stream: false, n: 1, cacheSalt: null, sessionKey: null, prompt: { kind: 'none' } };
    expect(scanned('{}')).toMatchObject(nothing);
    const odd = { model: 7, stream: 'true', n: '2', cache_salt: 1, user: 4, session_params: [], messages: 'x' };
    expect(scanned(odd)).toMatchObject(nothing);
    expect(scanned({ model: '', cache_salt: '', user: '' })).toMatchObject(nothing);
  });

  it('takes the last of repeated members, by unescaped name', () => {
    const text = '{"model":"a","stream":true,"messages":[{"role":"user","content":"old"}],"mod\\u0065l":"b","stream":false,"messages":[{"content":"new"}]}';
    expect(scanned(text)).toMatchObject({ model: 'b', stream: false });
    expect(promptTexts(text)).toEqual(['{"content":"new"}']);
    expect(promptTexts('{"messages":[{"content":"old"}],"messages":null}')).toBe('none');
    expect(promptTexts('{"tools":[{}],"messages":[{}],"tools":null}')).toEqual(['{}']);
  });

  it('finds the session key in the order of vLLM Router, and only in members', () => {
    const all = { session_params: { session_id: 'p' }, user: 'u', session_id: 's', user_id: 'i' };
    const keys: (string | null)[] = [];
    for (const gone of [null, 'session_params', 'user', 'session_id', 'user_id']) {
      if (gone !== null) Reflect.deleteProperty(all, gone);
      keys.push(scanned({ ...all, messages: [{ role: 'user', content: '"user": "not me", session_id: no' }] }).sessionKey);
    }
    expect(keys).toEqual(['session:p', 'user:u', 'session:s', 'user:i', null]);
  });

  it('names the fault and its byte', () => {
    expect(scanRequest(encodeUtf8('{"a":1,}'), 'chat')).toEqual({
      kind: 'invalid',
      code: 'invalid_json',
      message: 'the request body is not valid JSON: expected a member name at byte 7',
      offset: 7,
    });
    expect(scanRequest(encodeUtf8('[]'), 'chat')).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('array') });
    expect(scanRequest(Uint8Array.of(0x7b, 0, 0x7d, 0), 'chat')).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('not UTF-8') });
    expect(scanRequest(new Uint8Array(), 'completions')).toMatchObject({ code: 'invalid_json', offset: 0 });
    for (const text of ['{"messages":[{"content":[{"image_url":]}]}', '{"messages":[{"content":[1,}]}]}', '{"messages":[{]}', '{"prompt":[1,[2}', '{"tools":[}', '{"prompt":"a']) {
      for (const api of ['chat', 'completions'] as const) {
        expect(scanRequest(encodeUtf8(text), api)).toMatchObject({ kind: 'invalid', code: 'invalid_json' });
      }
    }
  });

  it('finds the chat prompt: tools, then each message', () => {
    const system = { role: 'system', content: 'be brief' };
    const user = { role: 'user', content: [{ type: 'text', text: 'hi' }] };
    const tools = [{ type: 'function' }];
    expect(promptTexts({ messages: [system, user], temperature: 1, tools })).toEqual([tools, system, user].map((part) => JSON.stringify(part)));
  });

  it('sets large media apart and leaves long text whole', () => {
    const image = { url: `data:image/png;base64,${'A'.repeat(2000)}` };
    const message = { role: 'user', content: [{ type: 'text', text: 'x'.repeat(3000) }, { type: 'image_url', image_url: image }, { type: 'image_url', image_url: { url: 'http://small' } }] };
    const { prompt } = scanned({ messages: [message] });
    expect(prompt.kind === 'text' && prompt.ranges.map(({ media }) => media)).toEqual([false, true, false]);
    const texts = promptTexts({ messages: [message] });
    expect(texts[1]).toBe(JSON.stringify(image));
    expect(texts).not.toBe('none');
    expect(Array.from(texts).join('')).toBe(JSON.stringify(message));
  });

  it('finds the completions prompt in each shape', () => {
    expect(promptTexts({ prompt: 'a"b' }, 'completions')).toEqual(['a\\"b']);
    expect(promptTexts('{"prompt":["ab" , "c"]}', 'completions')).toEqual(['ab"', 'c']);
    expect(promptTexts({ prompt: [1, 2] }, 'completions')).toEqual(['[1,2]']);
    expect(promptTexts({ prompt: [[1], [2]] }, 'completions')).toEqual(['[[1],[2]]']);
  });

  it.each(['""', '[]', 'null', '{}', '1', 'true', '["a",1]', '[1,"a"]', '[[1],"a"]', '[1,[2]]', '[null]', '[{}]', '[""]', '["",1]'])('sees no prompt in %s', (prompt) => {
    expect(promptTexts(`{"prompt":${prompt}}`, 'completions')).toBe('none');
  });

  it.each(['[]', 'null', '"hi"', '["hi"]', '[{"content":"a"},1]', '{"role":"user"}'])('sees no prompt in messages %s', (messages) => {
    expect(promptTexts(`{"messages":${messages},"tools":[{}]}`)).toBe('none');
  });
});
