import { Histogram } from './histogram.js';

const finishedReasons = ['stop', 'length', 'abort'] as const;
export type FinishedReason = (typeof finishedReasons)[number];

/** What is read at the moment of a scrape. */
export interface EngineGauges {
  readonly model: string;
  readonly running: number;
  readonly waiting: number;
  /** Share of the KV blocks in use by running requests and hand-offs, 0 to 1. */
  readonly kvUsage: number;
  readonly prefixCacheQueries: number;
  readonly prefixCacheHits: number;
  readonly startedAtSecs: number;
}

/** The metrics of an engine, under vLLM's names. */
export class EngineMetrics {
  readonly #firstToken = new Histogram([0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80]);
  readonly #interToken = new Histogram([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]);
  readonly #wholeRequest = new Histogram([0.01, 0.05, 0.1, 0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60]);
  readonly #finished: Record<FinishedReason, number> = { stop: 0, length: 0, abort: 0 };
  #promptTokens = 0;
  #generationTokens = 0;

  firstToken(secs: number, promptTokens: number): void {
    this.#firstToken.observe(secs);
    this.#promptTokens += promptTokens;
  }

  finished(reason: FinishedReason, tokens: number, decodeSecs: number, wholeSecs: number): void {
    this.#finished[reason] += 1;
    this.#generationTokens += tokens;
    if (tokens > 1) this.#interToken.observe(decodeSecs / (tokens - 1), tokens - 1);
    this.#wholeRequest.observe(wholeSecs);
  }

  render(gauges: EngineGauges): string {
    const labels = `model_name=${JSON.stringify(gauges.model)},engine="0"`;
    const plain = (kind: 'gauge' | 'counter', name: string, value: number): string => `# TYPE ${name} ${kind}\n${name}{${labels}} ${value}`;
    return [
      plain('gauge', 'vllm:num_requests_running', gauges.running),
      plain('gauge', 'vllm:num_requests_waiting', gauges.waiting),
      plain('gauge', 'vllm:kv_cache_usage_perc', gauges.kvUsage),
      plain('counter', 'vllm:prefix_cache_queries_total', gauges.prefixCacheQueries),
      plain('counter', 'vllm:prefix_cache_hits_total', gauges.prefixCacheHits),
      plain('counter', 'vllm:prompt_tokens_total', this.#promptTokens),
      plain('counter', 'vllm:generation_tokens_total', this.#generationTokens),
      '# TYPE vllm:request_success_total counter',
      ...finishedReasons.map((reason) => `vllm:request_success_total{${labels},finished_reason="${reason}"} ${this.#finished[reason]}`),
      this.#firstToken.render('vllm:time_to_first_token_seconds', labels),
      this.#interToken.render('vllm:inter_token_latency_seconds', labels),
      this.#wholeRequest.render('vllm:e2e_request_latency_seconds', labels),
      `# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds ${gauges.startedAtSecs}`,
      '',
    ].join('\n');
  }
}
