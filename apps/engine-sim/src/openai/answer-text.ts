import { type ChoiceScript, wholeJson } from '../generation/text-script.js';
import { type GenerationPlan } from './generation-plan.js';

/** A member of every answer whose digits and form are lost by any parser that makes doubles of numbers. */
export const vendorMember = '"sim":{"big":9223372036854775807,"ratio":1.0,"tiny":1e-07}';

/** Token counts of a request so far. */
export interface Usage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

export function usageJson(usage: Usage): string {
  return (
    `{"prompt_tokens":${usage.promptTokens},"total_tokens":${usage.promptTokens + usage.completionTokens},` +
    `"completion_tokens":${usage.completionTokens},"prompt_tokens_details":{"cached_tokens":${usage.cachedTokens}}}`
  );
}

/** The constant parts of an answer. */
export interface AnswerHead {
  readonly id: string;
  readonly createdSecs: number;
}

function chatMessage(plan: GenerationPlan, script: ChoiceScript, toolId: string): string {
  const content = wholeJson(script);
  // A call cut short cannot be parsed, so the engine returns it as words.
  const called = plan.tool !== null && script.finishReason === 'tool_calls';
  const calls = called
    ? `[{"id":${JSON.stringify(toolId)},"type":"function","function":{"name":${JSON.stringify(plan.tool.name)},"arguments":"${content}"}}]`
    : '[]';
  return (
    `{"role":"assistant","content":${called ? 'null' : `"${content}"`},"refusal":null,"annotations":null,"audio":null,` +
    `"function_call":null,"tool_calls":${calls},"reasoning_content":null}`
  );
}

/** A tool call's id: deterministic, so that answers can be compared. */
export function toolCallId(plan: GenerationPlan, choice: number): string {
  return `chatcmpl-tool-${plan.promptHash.slice(0, 16)}${choice}`;
}

/** The body of an answer that is not streamed. `kvParams` is JSON or null. */
export function wholeAnswer(plan: GenerationPlan, head: AnswerHead, usage: Usage, kvParams: string | null): string {
  const chat = plan.route === 'chat';
  const choices = plan.choices.map((script, index) =>
    chat
      ? `{"index":${index},"message":${chatMessage(plan, script, toolCallId(plan, index))},"logprobs":null,` +
        `"finish_reason":"${script.finishReason}","stop_reason":null,"token_ids":null}`
      : `{"index":${index},"text":"${wholeJson(script)}","logprobs":null,"finish_reason":"${script.finishReason}",` +
        `"stop_reason":null,"token_ids":null,"prompt_logprobs":null,"prompt_token_ids":null}`,
  );
  return (
    `{"id":${JSON.stringify(head.id)},"object":"${chat ? 'chat.completion' : 'text_completion'}","created":${head.createdSecs},` +
    `"model":${JSON.stringify(plan.model)},"choices":[${choices.join(',')}],"service_tier":null,"system_fingerprint":null,` +
    `"usage":${usageJson(usage)},${vendorMember},"kv_transfer_params":${kvParams ?? 'null'}}`
  );
}
