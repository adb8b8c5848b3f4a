import { decodeTokens, encodeText } from '../generation/prompt-tokens.js';
import { schemaError } from './api-error.js';
import { isObject } from './fields.js';

/** An entry of `/v1/models`, with vLLM's members. */
export function modelCard(id: string, createdSecs: number, maxModelLen: number): object {
  return { id, object: 'model', created: createdSecs, owned_by: 'vllm', root: id, parent: null, max_model_len: maxModelLen, permission: [] };
}

/** Body of `/tokenize`'s answer. Throws `ApiError`. */
export function tokenizePage(body: unknown, maxModelLen: number): string {
  if (!isObject(body)) throw schemaError('', 'model_attributes_type', 'Input should be a valid dictionary');
  const { prompt, messages } = body;
  if (typeof prompt !== 'string' && !Array.isArray(messages)) throw schemaError('prompt', 'missing', 'Field required');
  const text = typeof prompt === 'string' ? prompt : `${(messages as readonly unknown[]).map((message) => JSON.stringify(message)).join('\n')}\n`;
  const tokens = encodeText(text);
  return JSON.stringify({ count: tokens.length, max_model_len: maxModelLen, tokens, token_strs: null });
}

/** Body of `/detokenize`'s answer. Throws `ApiError`. */
export function detokenizePage(body: unknown): string {
  const tokens = isObject(body) ? body['tokens'] : undefined;
  if (!Array.isArray(tokens) || !tokens.every((id): id is number => Number.isInteger(id))) throw schemaError('tokens', 'list_type', 'Input should be a valid list');
  return JSON.stringify({ prompt: decodeTokens(tokens) });
}
