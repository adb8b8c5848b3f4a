import { type Fault, type RequestFaults } from '../control/fault-board.js';
import { type Answer } from '../http/answer.js';
import { type Leg } from '../kv/legs.js';
import { type AnswerHead, type Usage, wholeAnswer } from '../openai/answer-text.js';
import { doneEvent, EventWriter } from '../openai/event-writer.js';
import { type GenerationPlan } from '../openai/generation-plan.js';
import { type EngineMetrics } from '../telemetry/engine-metrics.js';
import { type Paced, type Pacer } from './pacer.js';
import { type PrefixCache } from './prefix-cache.js';
import { type RunQueue, type RunTicket } from './run-queue.js';

/** How fast the engine works. */
export interface EngineSpeed {
  readonly prefillUsPerToken: number;
  readonly decodeMsPerToken: number;
  readonly tokensPerChunk: number;
}

/** The parts of the engine a request runs on. */
export interface RunEngine {
  readonly speed: EngineSpeed;
  readonly pacer: Pacer;
  readonly queue: RunQueue;
  readonly cache: PrefixCache;
  readonly metrics: EngineMetrics;
  /** KV tokens of running requests. */
  readonly usedTokens: { value: number };
  readonly crash: () => void;
}

/** One accepted request. */
export interface RunRequest {
  readonly plan: GenerationPlan;
  readonly head: AnswerHead;
  readonly leg: Leg;
  readonly answer: Answer;
  readonly faults: RequestFaults;
}

const midStreamKinds = ['reset_after_bytes', 'fin_mid_stream', 'end_mid_stream', 'error_event_mid_stream', 'crash'] as const;
const defaultStrikeEvents = 3;
/** Lets what was written leave the process before its connection is torn. */
const strikeDelayMs = 20;

/** vLLM's event for a failure after the head was sent. */
export const errorEvent = 'data: {"error": {"message": "EngineCore encountered an issue. See stack trace (above) for the root cause.", "type": "InternalServerError", "param": null, "code": 500}}\n\n';

/** A request from admission to its last byte: waits, computes the prompt, then generates at the engine's pace. */
export class GenerationRun implements Paced {
  readonly #engine: RunEngine;
  readonly #request: RunRequest;
  readonly #events: EventWriter;
  readonly #longest: number;
  readonly #allTokens: number;
  readonly #slow: number;
  readonly #strike: Fault | null;
  readonly #bornMs = performance.now();
  #ticket: RunTicket | null = null;
  #phase: 'waiting' | 'prefill' | 'decode' | 'over' = 'waiting';
  #cachedTokens = 0;
  #firstTokenMs = 0;
  #position = 0;
  #kvTokens = 0;

  constructor(engine: RunEngine, request: RunRequest) {
    this.#engine = engine;
    this.#request = request;
    const { plan, faults } = request;
    this.#events = new EventWriter(plan, request.head);
    this.#longest = Math.max(...plan.choices.map((script) => script.tokens));
    this.#allTokens = plan.choices.reduce((sum, script) => sum + script.tokens, 0);
    this.#slow = faults.get('slow')?.factor ?? 1;
    this.#strike = midStreamKinds.map((kind) => faults.get(kind)).find((fault) => fault !== undefined) ?? null;
  }

  start(): void {
    const { answer, plan } = this.#request;
    if (plan.limits.stream) answer.openStream();
    answer.onAbort(() => this.#stop('abort'));
    this.#ticket = this.#engine.queue.enter(() => this.#admit());
    // It may have ended while it was admitted.
    if (this.#isOver()) this.#ticket.leave();
  }

  step(): number | null {
    if (this.#phase === 'prefill') return this.#firstToken();
    return this.#request.plan.limits.stream ? this.#chunk() : this.#finish();
  }

  #isOver(): boolean {
    return this.#phase === 'over';
  }

  #admit(): void {
    if (this.#isOver()) return;
    const { plan, leg, faults, answer } = this.#request;
    this.#phase = 'prefill';
    this.#cachedTokens =
      leg.kind === 'pulled'
        ? plan.promptTokens
        : plan.prompts.reduce((sum, prompt) => sum + this.#engine.cache.lookup(prompt.blockKeys, prompt.count), 0);
    this.#kvTokens = plan.promptTokens;
    this.#engine.usedTokens.value += this.#kvTokens;
    answer.record.promptTokens = plan.promptTokens;
    answer.record.cachedTokens = this.#cachedTokens;
    const computeMs = ((plan.promptTokens - this.#cachedTokens) * this.#engine.speed.prefillUsPerToken) / 1000;
    this.#engine.pacer.add(this, computeMs * this.#slow + (faults.get('slow_first_byte')?.ms ?? 0));
  }

  #firstToken(): number | null {
    const { plan } = this.#request;
    this.#phase = 'decode';
    this.#firstTokenMs = performance.now();
    this.#engine.metrics.firstToken((this.#firstTokenMs - this.#bornMs) / 1000, plan.promptTokens);
    for (const prompt of plan.prompts) this.#engine.cache.insert(prompt.blockKeys);
    if (!plan.limits.stream) {
      const restMs = (this.#longest - 1) * this.#engine.speed.decodeMsPerToken * this.#slow;
      return restMs > 0 ? restMs : this.#finish();
    }
    if (this.#strikes()) return null;
    for (let choice = 0; choice < plan.choices.length; choice += 1) {
      const opening = this.#events.opening(choice, this.#usage(0));
      if (opening !== null && !this.#emit(opening).goOn) return null;
    }
    return this.#chunk();
  }

  #chunk(): number | null {
    const { plan, answer } = this.#request;
    const { tokensPerChunk, decodeMsPerToken } = this.#engine.speed;
    const from = this.#position;
    const to = from + tokensPerChunk;
    this.#position = to;
    let flowing = true;
    for (const [choice, script] of plan.choices.entries()) {
      if (script.tokens <= from) continue;
      const upTo = Math.min(to, script.tokens);
      const sent = this.#emit(this.#events.tokens(choice, script, from, upTo, this.#usage(upTo)));
      if (!sent.goOn) return null;
      flowing = sent.flowing;
    }
    if (to >= this.#longest) return this.#finish();
    const delayMs = decodeMsPerToken * tokensPerChunk * this.#slow;
    if (flowing) return delayMs;
    answer.onceDrained(() => {
      if (!this.#isOver()) this.#engine.pacer.add(this, delayMs);
    });
    return null;
  }

  #emit(event: string): { readonly goOn: boolean; readonly flowing: boolean } {
    const { answer } = this.#request;
    const flowing = answer.write(event);
    answer.record.events += 1;
    return { goOn: !this.#strikes(), flowing };
  }

  #finish(): null {
    const { plan, answer, head, leg, faults } = this.#request;
    const finishReason = plan.choices[0]?.finishReason ?? 'stop';
    answer.record.finishReason = finishReason;
    if (plan.limits.stream) {
      if (plan.limits.includeUsage) answer.write(this.#events.usage(this.#usage(this.#longest)));
      answer.write(doneEvent);
      answer.end();
      this.#stop(finishReason === 'length' ? 'length' : 'stop');
      return null;
    }
    let params: string | null = null;
    if (leg.kind === 'producer' && !faults.has('empty_params')) {
      const handOff = leg.ticket.finish(finishReason);
      params = handOff.params;
      if (handOff.issued) answer.record.handOff = 'issued';
    }
    const text = wholeAnswer(plan, head, this.#usage(this.#longest), params);
    if (this.#strike === null) answer.json(200, text);
    else {
      answer.openJson(Buffer.byteLength(text));
      answer.write(text.slice(0, text.length / 2));
      this.#strikeLater(this.#strike);
    }
    this.#stop(finishReason === 'length' ? 'length' : 'stop');
    return null;
  }

  /** Whether a fault ends the answer here. */
  #strikes(): boolean {
    const strike = this.#strike;
    if (strike === null || this.#request.answer.record.events < (strike.events ?? defaultStrikeEvents)) return false;
    this.#strikeLater(strike);
    this.#stop('abort');
    return true;
  }

  #strikeLater(strike: Fault): void {
    const { answer } = this.#request;
    setTimeout(() => {
      if (strike.kind === 'crash') this.#engine.crash();
      else if (strike.kind === 'fin_mid_stream') answer.fin();
      else if (strike.kind === 'reset_after_bytes') answer.reset();
      else {
        if (strike.kind === 'error_event_mid_stream') answer.write(errorEvent + doneEvent);
        answer.end();
      }
    }, strikeDelayMs);
  }

  #usage(tokens: number): Usage {
    const { plan } = this.#request;
    const completionTokens = tokens >= this.#longest ? this.#allTokens : tokens * plan.choices.length;
    return { promptTokens: plan.promptTokens, cachedTokens: this.#cachedTokens, completionTokens };
  }

  #stop(reason: 'stop' | 'length' | 'abort'): void {
    if (this.#isOver()) return;
    const nowMs = performance.now();
    const tokens = reason === 'abort' ? Math.min(this.#position, this.#longest) : this.#allTokens;
    const decodeSecs = this.#firstTokenMs === 0 ? 0 : (nowMs - this.#firstTokenMs) / 1000;
    this.#phase = 'over';
    this.#engine.pacer.remove(this);
    this.#engine.usedTokens.value -= this.#kvTokens;
    if (this.#request.leg.kind === 'producer') this.#request.leg.ticket.abandon();
    this.#engine.metrics.finished(reason, tokens, decodeSecs, (nowMs - this.#bornMs) / 1000);
    this.#ticket?.leave();
  }
}
