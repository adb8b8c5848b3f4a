import { type PromptTokens, tokenize } from '../generation/prompt-tokens.js';
import { type ChoiceScript, createFixedScript, createTextScript } from '../generation/text-script.js';
import { badRequest, modelNotFound, schemaError } from './api-error.js';
import { integerField, isObject, type JsonObject, readSamplingLimits, type SamplingLimits } from './fields.js';
import { readToolCall, type ToolCall } from './tool-call.js';

export type GenerationRoute = 'chat' | 'completions';

/** What of the engine a plan depends on. */
export interface PlanLimits {
  readonly models: readonly string[];
  readonly maxModelLen: number;
  readonly blockSize: number;
  readonly outputTokens: number;
}

/** Everything about an accepted request that decides its answer. */
export interface GenerationPlan {
  readonly route: GenerationRoute;
  readonly model: string;
  readonly prompts: readonly PromptTokens[];
  readonly promptTokens: number;
  readonly promptHash: string;
  readonly limits: SamplingLimits;
  readonly tool: ToolCall | null;
  /** Prompt by prompt, `n` each. */
  readonly choices: readonly ChoiceScript[];
}

/** `[[sim:tokens=N]]` in a prompt sets the length of an uncut answer; the last one counts. */
const lengthMarker = /\[\[sim:tokens=(\d+)\]\]/g;

function naturalTokens(promptText: string, fallback: number): number {
  const at = promptText.lastIndexOf('[[sim:tokens=');
  if (at < 0) return fallback;
  const [match] = promptText.slice(at).matchAll(lengthMarker);
  return Math.max(1, Number(match?.[1] ?? fallback));
}

function chatPromptText(body: JsonObject): string {
  const messages = body['messages'];
  if (!Array.isArray(messages)) throw schemaError('messages', messages === undefined ? 'missing' : 'list_type', 'Input should be a valid list');
  if (messages.length === 0) throw badRequest('Input should have at least one message', 'messages');
  const rendered = messages.map((message: unknown) => {
    if (!isObject(message) || typeof message['role'] !== 'string') throw schemaError('messages', 'missing', 'Field required');
    return JSON.stringify(message);
  });
  const tools = body['tools'] ?? null;
  return `${tools === null ? '' : JSON.stringify(tools)}${rendered.join('\n')}\n`;
}

function isTokenList(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((id) => Number.isInteger(id) && id >= 0);
}

function completionPrompts(body: JsonObject): readonly (string | readonly number[])[] {
  const prompt = body['prompt'];
  if (typeof prompt === 'string' && prompt !== '') return [prompt];
  if (isTokenList(prompt)) return [prompt];
  if (Array.isArray(prompt) && prompt.length > 0) {
    if (prompt.every((item): item is string => typeof item === 'string')) return prompt;
    if (prompt.every(isTokenList)) return prompt;
  }
  throw badRequest('Either prompt or prompt_embeds must be provided and non-empty.', 'prompt');
}

function checkContext(limits: PlanLimits, promptTokens: number, maxTokens: number | null): void {
  const fits = promptTokens + (maxTokens ?? 1) <= limits.maxModelLen;
  if (fits) return;
  throw badRequest(
    `This model's maximum context length is ${limits.maxModelLen} tokens. However, you requested ${promptTokens + (maxTokens ?? 1)} tokens ` +
      `(${promptTokens} in the messages, ${maxTokens ?? 1} in the completion). Please reduce the length of the messages or completion.`,
  );
}

function scriptFor(plan: { readonly sampling: SamplingLimits; readonly maxTokens: number; readonly natural: number }, prompt: PromptTokens, choice: number): ChoiceScript {
  const wanted = plan.sampling.ignoreEos ? plan.maxTokens : Math.max(plan.natural, plan.sampling.minTokens);
  const tokens = Math.min(wanted, plan.maxTokens);
  // A model that ends by itself has one token more to say: the end. At the limit it is cut before that.
  const finishReason = plan.sampling.ignoreEos || wanted > plan.maxTokens ? 'length' : 'stop';
  return createTextScript(prompt.seed, choice, tokens, finishReason);
}

function toolScript(tool: ToolCall, sampling: SamplingLimits, maxTokens: number): ChoiceScript {
  const script = createFixedScript(tool.arguments, 'tool_calls', maxTokens);
  if (script.finishReason === 'length' && tool.forced && !sampling.stream) {
    throw badRequest(
      `1 validation error for list[function-wrap]: Invalid JSON: EOF while parsing a value (the forced tool call was cut after ${script.tokens} tokens)`,
    );
  }
  return script;
}

/** Checks a request as vLLM does and works out its answer; throws `ApiError`. */
export function planGeneration(route: GenerationRoute, body: unknown, limits: PlanLimits): GenerationPlan {
  if (!isObject(body)) throw schemaError('', 'model_attributes_type', 'Input should be a valid dictionary');
  const model = body['model'] ?? limits.models[0] ?? '';
  if (typeof model !== 'string') throw schemaError('model', 'string_type', 'Input should be a valid string');
  const chat = route === 'chat';
  const texts = chat ? [chatPromptText(body)] : completionPrompts(body);
  const requested = (chat ? integerField(body, 'max_completion_tokens') : null) ?? integerField(body, 'max_tokens');
  const sampling = readSamplingLimits(body, requested);
  if (!limits.models.includes(model)) throw modelNotFound(model);
  const firstText = texts[0];
  const promptText = typeof firstText === 'string' ? firstText : '';
  const tool = chat ? readToolCall(body, promptText) : null;
  const prompts = texts.map((text) => tokenize(text, limits.blockSize, model));
  const promptTokens = prompts.reduce((sum, prompt) => sum + prompt.count, 0);
  const longest = Math.max(...prompts.map((prompt) => prompt.count));
  checkContext(limits, longest, requested);
  const maxTokens = requested ?? (chat ? limits.maxModelLen - longest : Math.min(16, limits.maxModelLen - longest));
  const natural = naturalTokens(promptText, limits.outputTokens);
  const choices = prompts.flatMap((prompt) =>
    Array.from({ length: sampling.n }, (_, choice) =>
      tool === null ? scriptFor({ sampling, maxTokens, natural }, prompt, choice) : toolScript(tool, sampling, maxTokens),
    ),
  );
  return { route, model, prompts, promptTokens, promptHash: prompts.map((prompt) => prompt.hash).join(''), limits: sampling, tool, choices };
}
