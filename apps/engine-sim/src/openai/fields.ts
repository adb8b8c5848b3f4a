import { badRequest, schemaError } from './api-error.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An optional whole number; throws 400 otherwise. */
export function integerField(body: JsonObject, name: string): number | null {
  const value = body[name] ?? null;
  if (value === null) return null;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw schemaError(name, 'int_parsing', 'Input should be a valid integer');
  return value;
}

/** An optional boolean; throws 400 otherwise. */
export function booleanField(body: JsonObject, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value !== 'boolean') throw schemaError(name, 'bool_parsing', 'Input should be a valid boolean');
  return value;
}

/** How long an answer may and must be, and how it is delivered. */
export interface SamplingLimits {
  readonly n: number;
  readonly maxTokens: number | null;
  readonly minTokens: number;
  readonly ignoreEos: boolean;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
}

/** Reads and checks the members that chat and completions share, with vLLM's rules and sentences. */
export function readSamplingLimits(body: JsonObject, maxTokens: number | null): SamplingLimits {
  const stream = booleanField(body, 'stream');
  const streamOptions = body['stream_options'] ?? null;
  if (streamOptions !== null && !isObject(streamOptions)) throw schemaError('stream_options', 'model_type', 'Input should be a valid dictionary');
  // An empty object is false to Python, so vLLM lets it pass.
  if (streamOptions !== null && Object.keys(streamOptions).length > 0 && !stream) {
    throw badRequest('Stream options can only be defined when `stream=True`.', 'stream_options');
  }
  const n = integerField(body, 'n') ?? 1;
  if (n < 1) throw badRequest(`n must be at least 1, got ${n}.`, 'n');
  if (maxTokens !== null && maxTokens < 1) throw badRequest(`max_tokens must be at least 1, got ${maxTokens}.`, 'max_tokens');
  const minTokens = integerField(body, 'min_tokens') ?? 0;
  if (minTokens < 0) throw badRequest(`min_tokens must be greater than or equal to 0, got ${minTokens}.`, 'min_tokens');
  if (maxTokens !== null && minTokens > maxTokens) {
    throw badRequest(`min_tokens must be less than or equal to max_tokens=${maxTokens}, got ${minTokens}.`, 'min_tokens');
  }
  if (stream && (integerField(body, 'prompt_logprobs') ?? 0) > 0) {
    throw badRequest('`prompt_logprobs` are not available when `stream=True`.', 'prompt_logprobs');
  }
  const includeUsage = streamOptions !== null && booleanField(streamOptions, 'include_usage');
  return {
    n,
    maxTokens,
    minTokens,
    ignoreEos: booleanField(body, 'ignore_eos'),
    stream,
    includeUsage,
    continuousUsage: includeUsage && booleanField(streamOptions, 'continuous_usage_stats'),
  };
}
