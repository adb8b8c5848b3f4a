import { connectorFlagValues, defaultAllowedNetworks, defaultPolicyOptions, policyNames } from '@switchyard/core';

import { many, one, type Setting, toggle } from './setting.js';
import { staticEngine } from './static-engine.js';
import { bindAddress, choice, decimalNumber, host, integer, network, path, port, seconds, secondsOrNone, secret, truth, urlPath } from './value-kind.js';

const policy = choice(policyNames);

/** Every setting, by its place in `Config`. */
const table = {
  api: {
    host: one(host, '0.0.0.0', { name: 'host', description: 'Address of the API listener, for clients.' }),
    port: one(port, 8000, { name: 'port', description: 'Port of the API listener.' }),
    clientApiKeys: many(secret, [], {
      name: 'client-api-key',
      sensitive: true,
      defaultText: 'none: no key is asked for',
      description: 'When set, the API port requires one of these keys.',
    }),
    maxBodyBytes: one(integer(1), 268_435_456, {
      name: 'max-body-bytes',
      aliases: ['max-payload-size'],
      description: 'Larger request bodies are refused with 413.',
    }),
    exposeRouteHeaders: toggle(truth, false, {
      name: 'expose-route-headers',
      description: 'Answers carry x-switchyard-prefill, x-switchyard-decode and x-switchyard-reason.',
    }),
  },
  admin: {
    host: one(host, '127.0.0.1', { name: 'admin-host', description: 'Address of the admin listener, for operators.' }),
    port: one(port, 9000, { name: 'admin-port', description: 'Port of the admin listener.' }),
    token: one(secret, null, {
      name: 'admin-token',
      sensitive: true,
      defaultText: 'a random one, printed once',
      description: 'Operator token: may read and change.',
    }),
    viewerToken: one(secret, null, { name: 'viewer-token', sensitive: true, defaultText: 'none', description: 'Viewer token: may only read.' }),
    advertiseHost: one(host, null, {
      name: 'advertise-host',
      defaultText: 'first non-loopback address',
      description: 'How engines and operators reach this machine; shown in commands to paste.',
    }),
    openMetrics: toggle(truth, false, { name: 'open-metrics', description: '/metrics needs no token.' }),
  },
  discovery: {
    address: one(bindAddress, { host: '0.0.0.0', port: 30_001 }, {
      name: 'discovery-address',
      aliases: ['vllm-discovery-address'],
      description: 'Where engines announce themselves over ZeroMQ; off disables it.',
    }),
    allow: many<string>(network, defaultAllowedNetworks, {
      name: 'discovery-allow',
      description: 'Networks that engines may announce and announce from. Link-local and cloud metadata addresses never are.',
    }),
    registrationTtlSecs: one(seconds, 10, { name: 'registration-ttl-secs', description: 'An announced engine is gone after this long without a ping.' }),
    prefill: many(staticEngine(true), [], { name: 'prefill', takesMany: true, description: 'Prefill engines that do not announce themselves.' }),
    decode: many(staticEngine(false), [], { name: 'decode', takesMany: true, description: 'Decode engines that do not announce themselves.' }),
    workers: many(staticEngine(false), [], {
      name: 'worker-url',
      aliases: ['worker-urls'],
      takesMany: true,
      description: 'Engines that do both phases and do not announce themselves.',
    }),
  },
  pd: {
    connector: one(choice(connectorFlagValues, ['mooncake']), 'auto', {
      name: 'kv-connector',
      description: "KV connector of the engines; an engine's own connector label comes first.",
    }),
    handoffMaxAgeSecs: one(seconds, 20, { name: 'handoff-max-age-secs', description: 'A prefill hand-off older than this is not sent: prefill runs again.' }),
    engineKvLeaseSecs: one(seconds, 30, {
      name: 'engine-kv-lease-secs',
      description: 'How long engines keep KV that no decode engine fetches; left-behind KV is shown that long.',
    }),
    usage: one(choice(['engine'], ['merged']), 'engine', { name: 'pd-usage', description: 'Whose token usage the client sees.' }),
    prefillToolChoice: one(choice(['none', 'keep']), 'none', {
      name: 'pd-prefill-tool-choice',
      description: 'A forced tool choice on the prefill call: none replaces it (a cut-off forced call fails validation), keep leaves it.',
    }),
  },
  policy: {
    base: one(policy, 'cache_aware', { name: 'policy', live: true, description: 'How workers are chosen.' }),
    prefill: one(policy, 'cache_aware', {
      name: 'prefill-policy',
      live: true,
      inherits: 'policy',
      defaultText: '--policy if set, else cache_aware',
      description: 'How prefill workers are chosen.',
    }),
    decode: one(policy, 'power_of_two', {
      name: 'decode-policy',
      live: true,
      inherits: 'policy',
      defaultText: '--policy if set, else power_of_two',
      description: 'How decode workers are chosen.',
    }),
    cacheThreshold: one(decimalNumber(0, 1), defaultPolicyOptions.cacheThreshold, {
      name: 'cache-threshold',
      live: true,
      description: 'cache_aware follows a cached prefix when more than this share of the prompt matches.',
    }),
    balanceAbsThreshold: one(integer(0), defaultPolicyOptions.balanceAbsThreshold, {
      name: 'balance-abs-threshold',
      live: true,
      description: 'cache_aware balances instead when pressures differ by more than this (and by more than balance-rel-threshold).',
    }),
    balanceRelThreshold: one(decimalNumber(1), defaultPolicyOptions.balanceRelThreshold, {
      name: 'balance-rel-threshold',
      live: true,
      description: 'cache_aware balances instead when the largest pressure exceeds the smallest times this (and balance-abs-threshold).',
    }),
    prefixIndexMaxBytes: one(integer(1), defaultPolicyOptions.prefixIndexMaxBytes, {
      name: 'prefix-index-max-bytes',
      description: 'Prompt bytes the prefix index covers per worker and model; the least recently used go first.',
    }),
  },
  health: {
    intervalSecs: one(seconds, 5, { name: 'health-check-interval-secs', description: 'Time between two probes of an engine.' }),
    timeoutSecs: one(seconds, 3, { name: 'health-check-timeout-secs', description: 'A probe without an answer has failed after this.' }),
    failureThreshold: one(integer(1, 1000), 3, { name: 'health-failure-threshold', description: 'Failed probes in a row that make a worker unhealthy.' }),
    successThreshold: one(integer(1, 1000), 1, { name: 'health-success-threshold', description: 'Good probes in a row that make it healthy again.' }),
    endpoint: one(urlPath, '/health', { name: 'health-check-endpoint', description: 'Path that is probed.' }),
    gate: toggle(truth, true, { name: 'health-gate', description: 'A new worker takes requests only after a first good probe.' }),
    scrapeEngines: toggle(truth, true, {
      name: 'engine-scrape',
      description: 'Engines are asked every 5 s what they run and have waiting, to be shown beside what this router counts.',
    }),
    gateWaitSecs: one(seconds, 2, {
      name: 'gate-wait-secs',
      description: 'A request waits this long when all workers it needs are still gated, then gets 503.',
    }),
  },
  upstream: {
    apiKey: one(secret, null, {
      name: 'engine-api-key',
      aliases: ['api-key'],
      sensitive: true,
      defaultText: 'none',
      description: 'Key sent to engines with every call, probes included.',
    }),
    retryMaxAttempts: one(integer(1, 100), 3, {
      name: 'retry-max-attempts',
      aliases: ['retry-max-retries'],
      description: 'Engine calls that may fail per request, the first included; 1 = no retries.',
    }),
    requestTimeoutSecs: one(seconds, 1800, { name: 'request-timeout-secs', description: 'Whole request, from its arrival to the end of the answer.' }),
    connectTimeoutSecs: one(seconds, 5, { name: 'connect-timeout-secs', description: 'Connecting to an engine.' }),
    firstByteTimeoutSecs: one(seconds, 600, { name: 'first-byte-timeout-secs', description: 'First body byte of an engine.' }),
    streamIdleTimeoutSecs: one(seconds, 300, { name: 'stream-idle-timeout-secs', description: 'Silence in the middle of an answer.' }),
    holdHeadSecs: one(secondsOrNone, null, {
      name: 'hold-head-secs',
      defaultText: 'none: no limit',
      description: 'Response headers go to the client after this even if no body byte has come; nothing is retried afterwards.',
    }),
    keepaliveSecs: one(seconds, 3, {
      name: 'upstream-keepalive-secs',
      description: 'Idle engine connections are closed after this; uvicorn closes its side after 5.',
    }),
  },
  process: {
    configFile: one(path, null, { name: 'config', notInFile: true, defaultText: 'none', description: 'YAML file of settings, one flat key each.' }),
    dataDir: one(path, '.switchyard', {
      name: 'data-dir',
      description: 'Directory of the embedded store; memory keeps nothing. One process a directory.',
    }),
    shutdownGraceSecs: one(seconds, 25, { name: 'shutdown-grace-secs', description: 'After SIGTERM, requests in flight may take this long.' }),
  },
  log: {
    level: one(choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'info', { name: 'log-level', description: 'Least severity that is logged.' }),
    format: one(choice(['auto', 'json', 'pretty']), 'auto', {
      name: 'log-format',
      description: 'Form of log lines on stderr; auto is pretty on a terminal, else json.',
    }),
  },
};

type Table = typeof table;

/** The effective settings by group: plain data, deeply frozen. */
export type Config = {
  readonly [G in keyof Table]: { readonly [K in keyof Table[G]]: Table[G][K] extends Setting<infer T> ? T : never };
};

export type SettingGroup = keyof Table;

/** A setting with its place in `Config`. */
export interface PlacedSetting extends Setting {
  readonly group: SettingGroup;
  readonly key: string;
}

/** All settings, in the order of help and reference. */
export const settings: readonly PlacedSetting[] = Object.entries(table).flatMap(([group, members]) =>
  Object.entries(members).map(([key, setting]: [string, Setting]) => ({ ...setting, group: group as SettingGroup, key })),
);
