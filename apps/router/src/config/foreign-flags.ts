import { nearestName } from './nearest-name.js';

/** vLLM Router flags that change nothing here: accepted, with what happens instead. */
export const acceptedWithWarning: ReadonlyMap<string, { readonly takesValue: boolean; readonly instead: string }> = new Map([
  ['vllm-pd-disaggregation', { takesValue: false, instead: 'prefill/decode is used wherever such engines are registered' }],
  ['enable-igw', { takesValue: false, instead: 'several models are always served, each by the workers that have it' }],
  ['prometheus-port', { takesValue: true, instead: 'metrics are at /metrics on the admin port (--admin-port)' }],
  ['prometheus-host', { takesValue: true, instead: 'metrics are at /metrics on the admin listener (--admin-host)' }],
]);

/** Planned settings of Switchyard, and vLLM Router's names for them. */
const planned: ReadonlySet<string> = new Set([
  'intra-node-data-parallel-size',
  ...['cb-failure-threshold', 'cb-success-threshold', 'cb-timeout-secs', 'cb-window-secs', 'disable-circuit-breaker'],
  ...['cb-timeout-duration-secs', 'cb-window-duration-secs'],
  ...['max-concurrent-requests', 'queue-size', 'queue-timeout-secs', 'max-inflight-prefill', 'max-inflight-decode', 'max-buffered-bytes'],
  ...['pd-fallback', 'pd-min-prompt-bytes'],
  ...['discovery-require-key', 'discovery-key', 'discovery-curve-secret-file', 'discovery-forward', 'startup-hold-secs', 'cors-allowed-origins'],
  ...['model-alias', 'model-policy', 'reap-handoffs', 'workers-file', 'request-id-headers', 'session-headers', 'no-engine-scrape', 'engine-scrape'],
  ...['service-discovery', 'selector', 'prefill-selector', 'decode-selector', 'service-discovery-port', 'service-discovery-namespace'],
  ...['engine-kv-lease-secs', 'otlp-traces-endpoint', 'data-plane-processes', 'record'],
]);

/** vLLM Router flags without a counterpart of the same meaning: what to do instead. */
const replaced: ReadonlyMap<string, string> = new Map([
  ['disable-retries', 'use --retry-max-attempts 1'],
  ['retry-initial-backoff-ms', 'a retry goes to another worker at once; leave it out'],
  ['retry-max-backoff-ms', 'a retry goes to another worker at once; leave it out'],
  ['retry-backoff-multiplier', 'a retry goes to another worker at once; leave it out'],
  ['retry-jitter-factor', 'a retry goes to another worker at once; leave it out'],
  ['worker-startup-timeout-secs', 'the router starts without workers; see --gate-wait-secs and --no-health-gate'],
  ['worker-startup-check-interval', 'use --health-check-interval-secs'],
  ['eviction-interval', 'the prefix index evicts as it grows; see --prefix-index-max-bytes'],
  ['eviction-interval-secs', 'the prefix index evicts as it grows; see --prefix-index-max-bytes'],
  ['max-tree-size', 'use --prefix-index-max-bytes (bytes per worker and model)'],
  ['api-key-validation-urls', 'use --client-api-key'],
  ['backend', 'engines are vLLM; leave it out'],
  ['runtime', 'engines are vLLM; leave it out'],
  ['log-dir', 'logs go to stderr; redirect them'],
  ['enable-trace', 'tracing is not in this version'],
  ['otel-sampling-ratio', 'tracing is not in this version'],
  ['otel-excluded-paths', 'tracing is not in this version'],
  ['history-backend', 'responses are not stored; leave it out'],
  ['profile', 'call /start_profile and /stop_profile on the engine'],
  ['mini-lb', 'leave it out'],
  ['rate-limit-tokens-per-second', 'limits are not in this version'],
  ['kv-block-size', 'leave it out: the prefix index chooses its own blocks'],
]);

/** Why `name` (without dashes) is not known, and what to write instead; `flag` chooses how names are spelled. */
export function explainUnknown(name: string, known: readonly string[], spell: (name: string) => string): string {
  const instead = replaced.get(name);
  if (instead !== undefined) return `is a vLLM Router setting that Switchyard does not have: ${instead}`;
  if (planned.has(name) || (name.startsWith('no-') && planned.has(name.slice(3)))) return 'is planned, but not in this version';
  const near = nearestName(name, known);
  return near === undefined ? 'is unknown' : `is unknown; did you mean ${spell(near)}?`;
}
