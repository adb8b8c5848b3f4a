import { type ChoiceScript } from '../generation/text-script.js';
import { type AnswerHead, toolCallId, usageJson, type Usage, vendorMember } from './answer-text.js';
import { type GenerationPlan } from './generation-plan.js';

export const doneEvent = 'data: [DONE]\n\n';

/** Builds the events of one streamed answer by concatenation: whatever does not change is serialised once. */
export class EventWriter {
  readonly #plan: GenerationPlan;
  readonly #prefix: string;
  readonly #callOpened = new Set<number>();

  constructor(plan: GenerationPlan, head: AnswerHead) {
    this.#plan = plan;
    const object = plan.route === 'chat' ? 'chat.completion.chunk' : 'text_completion';
    this.#prefix = `data: {"id":${JSON.stringify(head.id)},"object":"${object}","created":${head.createdSecs},"model":${JSON.stringify(plan.model)},"choices":[`;
  }

  /** The event a chat choice begins with; completions have none. */
  opening(choice: number, usage: Usage): string | null {
    if (this.#plan.route !== 'chat') return null;
    return this.#event(`{"index":${choice},"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`, usage);
  }

  /** The event for tokens `from` up to and without `to` of a choice. */
  tokens(choice: number, script: ChoiceScript, from: number, to: number, usage: Usage): string {
    let text = '';
    for (let index = from; index < to; index += 1) text += script.pieceJson(index);
    const finish = to === script.tokens ? `"${script.finishReason}"` : 'null';
    const rest = `"logprobs":null,"finish_reason":${finish},"stop_reason":null,"token_ids":null}`;
    if (this.#plan.route !== 'chat') return this.#event(`{"index":${choice},"text":"${text}",${rest}`, usage);
    const delta = this.#plan.tool === null ? `"content":"${text}"` : `"tool_calls":[${this.#callDelta(choice, this.#plan.tool.name, text)}]`;
    return this.#event(`{"index":${choice},"delta":{${delta}},${rest}`, usage);
  }

  /** The last event before `[DONE]` when the request asked for usage. */
  usage(usage: Usage): string {
    return `${this.#prefix}],"usage":${usageJson(usage)},${vendorMember}}\n\n`;
  }

  #callDelta(choice: number, name: string, text: string): string {
    if (this.#callOpened.has(choice)) return `{"index":0,"function":{"arguments":"${text}"}}`;
    this.#callOpened.add(choice);
    const id = JSON.stringify(toolCallId(this.#plan, choice));
    return `{"id":${id},"type":"function","index":0,"function":{"name":${JSON.stringify(name)},"arguments":"${text}"}}`;
  }

  #event(choice: string, usage: Usage): string {
    const stats = this.#plan.limits.continuousUsage ? `"usage":${usageJson(usage)},` : '';
    return `${this.#prefix}${choice}],${stats}${vendorMember}}\n\n`;
  }
}
