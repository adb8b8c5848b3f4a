import { effectiveConfig } from './effective-config.js';
import { type LoadedConfig, loadConfig } from './load-config.js';
import { settings } from './settings.js';

type Env = Readonly<Record<string, string>>;

function load(argv: readonly string[] = [], env: Env = {}, files: Readonly<Record<string, string>> = {}) {
  return loadConfig(argv, env, (path) => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
    return text;
  });
}

function good(...args: Parameters<typeof load>): LoadedConfig {
  const loaded = load(...args);
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  return loaded;
}

function faults(...args: Parameters<typeof load>): readonly string[] {
  const loaded = load(...args);
  return loaded.ok ? [] : loaded.faults;
}

const yaml = (text: string): Parameters<typeof load> => [['--config', 'sw.yaml'], {}, { 'sw.yaml': text }];

describe('defaults', () => {
  it('are those of the contract', () => {
    const { config } = good();
    expect(config).toMatchObject({
      api: { host: '0.0.0.0', port: 8000, clientApiKeys: [], maxBodyBytes: 268435456, exposeRouteHeaders: false },
      admin: { host: '127.0.0.1', port: 9000, token: null, viewerToken: null, openMetrics: false, advertiseHost: null },
      discovery: { address: { host: '0.0.0.0', port: 30001 }, registrationTtlSecs: 10, prefill: [], decode: [], workers: [] },
      pd: { connector: 'auto', handoffMaxAgeSecs: 20, usage: 'engine', prefillToolChoice: 'none' },
      policy: { base: 'cache_aware', prefill: 'cache_aware', decode: 'power_of_two', cacheThreshold: 0.3, balanceAbsThreshold: 8, balanceRelThreshold: 1.5 },
      health: { intervalSecs: 5, timeoutSecs: 3, failureThreshold: 3, successThreshold: 1, endpoint: '/health', gate: true, gateWaitSecs: 2 },
      upstream: { apiKey: null, retryMaxAttempts: 3, requestTimeoutSecs: 1800, connectTimeoutSecs: 5, firstByteTimeoutSecs: 600, streamIdleTimeoutSecs: 300, holdHeadSecs: null, keepaliveSecs: 3 },
      process: { dataDir: '.switchyard', shutdownGraceSecs: 25, configFile: null },
      log: { level: 'info', format: 'auto' },
    });
    expect(config.discovery.allow).toContain('100.64.0.0/10');
  });

  it('are read back unchanged from their shown form', () => {
    const shown = effectiveConfig(good()).filter(({ name, shown: text }) => text !== '' && name !== 'config');
    const argv = shown.map(({ name, shown: text }) => [name, text] as const);
    const listed = settings.filter(({ shape }) => shape === 'list').map(({ name }) => name);
    const words = argv.flatMap(([name, text]) => (listed.includes(name) ? text.split(',').map((item) => `--${name}=${item}`) : [`--${name}=${text}`]));
    expect(good(words).config).toEqual(good().config);
  });

  it('have a name, a place and a reader each, once', () => {
    const names = settings.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((name) => /^[a-z]+(-[a-z]+)*$/.test(name))).toBe(true);
  });
});

describe('precedence', () => {
  const files = { 'sw.yaml': 'port: 3\nadmin-port: 33\nlog-level: debug\n' };

  it('is flag, environment, file, default', () => {
    const { config, sources } = good(['--config', 'sw.yaml', '--port', '1'], { SWITCHYARD_PORT: '2', SWITCHYARD_ADMIN_PORT: '22' }, files);
    expect([config.api.port, config.admin.port, config.log.level, config.log.format]).toEqual([1, 22, 'debug', 'auto']);
    expect(sources).toMatchObject({
      port: { kind: 'flag', label: '--port' },
      'admin-port': { kind: 'env', label: 'SWITCHYARD_ADMIN_PORT' },
      'log-level': { kind: 'file', label: 'log-level in sw.yaml' },
      'log-format': { kind: 'default', label: 'default' },
    });
  });

  it('replaces lists as a whole', () => {
    const { config } = good(['--decode', 'http://c:1'], { SWITCHYARD_DECODE: 'http://a:1,http://b:1' });
    expect(config.discovery.decode.map(({ endpoint }) => endpoint)).toEqual(['http://c:1']);
  });

  it('lets the config file be named by a variable, and flags name the file before it', () => {
    expect(good([], { SWITCHYARD_CONFIG: 'sw.yaml' }, files).config.api.port).toBe(3);
    expect(good(['--config=b.yaml'], { SWITCHYARD_CONFIG: 'sw.yaml' }, { 'b.yaml': 'port: 4' }).config.api.port).toBe(4);
  });

  it('freezes the result to its leaves', () => {
    const { config, sources } = good(['--prefill', 'http://a:1']);
    expect([config, config.api, config.discovery.prefill, config.discovery.prefill[0], sources].every(Object.isFrozen)).toBe(true);
  });
});

describe('flags', () => {
  it('take --name value, --name=value, and of a repeated one the last', () => {
    expect(good(['--port', '1', '--port=2']).config.api.port).toBe(2);
  });

  it('switch with --x, --no-x and --x=false', () => {
    expect(good(['--open-metrics', '--no-health-gate']).config).toMatchObject({ admin: { openMetrics: true }, health: { gate: false } });
    expect(good(['--open-metrics', '--open-metrics=false']).config.admin.openMetrics).toBe(false);
    expect(faults(['--no-port'])[0]).toContain('--no-port is unknown');
    expect(faults(['--no-health-gate=true'])).toEqual(['--no-health-gate takes no value']);
  });

  it('gather repeated lists', () => {
    expect(good(['--client-api-key', 'a', '--client-api-key', 'b']).config.api.clientApiKeys).toEqual(['a', 'b']);
    expect(good(['--worker-urls', 'http://a:1', 'http://b:1', '--worker-url', 'http://c:1']).config.discovery.workers).toHaveLength(3);
  });

  it('give --prefill one or two words each, several times', () => {
    const { config } = good(['--prefill', 'http://A:8000', '8998', 'http://b:8000', 'None', 'http://c:8000;group=v2', '--prefill', 'http://d:8000;group=v1', '9', '--port', '1']);
    expect(config.discovery.prefill).toEqual([
      { endpoint: 'http://a:8000', group: null, bootstrapPort: 8998 },
      { endpoint: 'http://b:8000', group: null, bootstrapPort: null },
      { endpoint: 'http://c:8000', group: 'v2', bootstrapPort: null },
      { endpoint: 'http://d:8000', group: 'v1', bootstrapPort: 9 },
    ]);
  });

  it('refuse what is not an engine, with the reason', () => {
    expect(faults(['--decode', 'ftp://a:1'])[0]).toMatch(/^--decode: "ftp:\/\/a:1" is not accepted \(the scheme must be http or https/);
    expect(faults(['--decode', 'http://a:1', '8998'])[0]).toContain('"8998"');
    expect(faults(['--prefill', 'http://a:1', '70000'])[0]).toContain('bootstrap port must be 1 to 65535');
    expect(faults(['--prefill', 'http://a:1;zone=x'])[0]).toContain('the only label is ;group=NAME');
    expect(faults(['--prefill', 'http://a:1', 'HTTP://A:1'])).toEqual(['--prefill: http://a:1 is listed twice']);
    expect(good(['--prefill', 'http://a:1', '--decode', 'http://a:1']).ok).toBe(true);
  });

  it('miss values', () => {
    expect(faults(['--port'])).toEqual(['--port needs a value: a port from 0 to 65535 (0 = any free one)']);
    expect(faults(['--port', '--host', 'a'])[0]).toContain('--port needs a value');
  });

  it('refuse stray words and unknown names, with the nearest known one', () => {
    expect(faults(['stray'])[0]).toContain('"stray" is not expected here');
    expect(faults(['--prot', '1'])).toEqual(['--prot is unknown; did you mean --port?']);
    expect(faults(['--zzzzzzzzz', '1'])).toEqual(['--zzzzzzzzz is unknown']);
  });
});

describe('environment', () => {
  it('reads upper snake case, lists with commas, switches as words', () => {
    const { config } = good([], { SWITCHYARD_ADMIN_HOST: '[::1]', SWITCHYARD_PREFILL: 'http://a:1 8998, http://b:1', SWITCHYARD_HEALTH_GATE: 'false', OTHER: 'x' });
    expect(config.admin.host).toBe('::1');
    expect(config.discovery.prefill.map(({ bootstrapPort }) => bootstrapPort)).toEqual([8998, null]);
    expect(config.health.gate).toBe(false);
  });

  it('takes an empty variable as not set, but no empty secret', () => {
    expect(good([], { SWITCHYARD_PORT: '' }).config.api.port).toBe(8000);
    expect(faults([], { SWITCHYARD_CLIENT_API_KEY: '' })).toEqual(['SWITCHYARD_CLIENT_API_KEY is empty: give it a value or remove it']);
    expect(faults([], { SWITCHYARD_CLIENT_API_KEY: ' , ' })).toEqual(['SWITCHYARD_CLIENT_API_KEY is empty: give it a value or remove it']);
  });

  it('warns of an unknown variable and ignores those that Kubernetes adds for a Service', () => {
    const service = { SWITCHYARD_PORT: 'tcp://10.0.0.1:8000', SWITCHYARD_SERVICE_HOST: '10.0.0.1', SWITCHYARD_PORT_8000_TCP: 'tcp://10.0.0.1:8000' };
    const { config, warnings } = good([], { ...service, SWITCHYARD_PROT: '1', SWITCHYARD_TOKEN: 'for the operator commands' });
    expect(config.api.port).toBe(8000);
    expect(warnings).toEqual(['SWITCHYARD_PROT is unknown; did you mean SWITCHYARD_PORT?']);
  });

  it('names the variable of a bad value', () => {
    expect(faults([], { SWITCHYARD_PORT: '70000' })).toEqual(['SWITCHYARD_PORT: "70000" is not accepted: must be a port from 0 to 65535 (0 = any free one)']);
  });
});

describe('file', () => {
  it('reads flat keys, lists and booleans', () => {
    const { config } = good(...yaml('port: 0\nhealth-gate: false\nhold-head-secs: none\nprefill:\n  - http://a:1 8998\n  - "http://b:1;group=g"\nadmin-token: 0123\n'));
    expect(config).toMatchObject({ api: { port: 0 }, health: { gate: false }, upstream: { holdHeadSecs: null }, admin: { token: '0123' } });
    expect(config.discovery.prefill).toHaveLength(2);
  });

  it('may be empty', () => {
    expect(good(...yaml('# nothing yet\n')).config.api.port).toBe(8000);
  });

  it.each([
    ['prot: 1', 'prot in sw.yaml is unknown; did you mean port?'],
    ['port: [1, 2]', 'port in sw.yaml must be one value'],
    ['api:\n  port: 1', 'api in sw.yaml is unknown'],
    ['prefill: {a: b}', 'prefill in sw.yaml must be a list of texts'],
    ['- a', 'sw.yaml: must be a map of settings, such as "port: 8000"'],
    ['config: other.yaml', 'config in sw.yaml may only be a flag or an environment variable'],
    ['port: 99999', 'port in sw.yaml: "99999" is not accepted: must be a port from 0 to 65535 (0 = any free one)'],
  ])('refuses %j', (text, fault) => {
    expect(faults(...yaml(text))).toEqual([fault]);
  });

  it('refuses what is not YAML and a key given twice', () => {
    expect(faults(...yaml('a: [1'))[0]).toMatch(/^sw\.yaml: /);
    expect(faults(...yaml('port: 1\nport: 2'))[0]).toContain('unique');
  });

  it('says when it cannot be read', () => {
    expect(faults(['--config', 'gone.yaml'])).toEqual(["--config: cannot read gone.yaml: ENOENT: no such file, open 'gone.yaml'"]);
  });
});

describe('secrets', () => {
  it('come from files by flag, variable or key; lists one a line', () => {
    const files = { 'sw.yaml': 'viewer-token-file: v', v: 'viewer\n', a: 'admin\n', k: 'one\n\ntwo\n' };
    const { config, sources } = good(['--config', 'sw.yaml', '--client-api-key-file', 'k'], { SWITCHYARD_ADMIN_TOKEN_FILE: 'a' }, files);
    expect(config).toMatchObject({ admin: { token: 'admin', viewerToken: 'viewer' }, api: { clientApiKeys: ['one', 'two'] } });
    expect(sources['admin-token']).toEqual({ kind: 'env', label: 'SWITCHYARD_ADMIN_TOKEN_FILE' });
  });

  it('are refused when the file is missing, empty or too long, or when given twice in one source', () => {
    const files = { empty: '\n', two: 'a\nb\n' };
    expect(faults(['--admin-token-file', 'gone'], {}, files)[0]).toContain('cannot read gone');
    expect(faults(['--admin-token-file', 'empty'], {}, files)).toEqual(['--admin-token-file: empty is empty']);
    expect(faults(['--admin-token-file', 'two'], {}, files)).toEqual(['--admin-token-file: two must hold one line']);
    expect(faults(['--admin-token-file', 'two', '--admin-token', 'x'], {}, files)[0]).toContain('set the same thing');
    expect(faults([], { SWITCHYARD_ADMIN_TOKEN: 'x', SWITCHYARD_ADMIN_TOKEN_FILE: 'two' }, files)[0]).toContain('set the same thing');
  });

  it('are never quoted or shown', () => {
    expect(faults(['--admin-token', 'very secret'])).toEqual(['--admin-token: the given value is not accepted: must be visible ASCII without spaces, not empty']);
    const shown = JSON.stringify(effectiveConfig(good(['--admin-token', 'hush1', '--viewer-token', 'hush2', '--client-api-key', 'hush3', '--engine-api-key', 'hush4'])));
    expect(shown).not.toContain('hush');
    expect(shown).toContain('********');
  });

  it('are refused when a file leaves them empty', () => {
    expect(faults(...yaml('client-api-key:'))).toHaveLength(1);
    expect(faults(...yaml('admin-token:'))).toHaveLength(1);
    expect(faults(...yaml('prefill:'))).toEqual([]);
  });

  it('keep viewers apart from operators', () => {
    expect(faults(['--admin-token', 'x', '--viewer-token', 'x'])[0]).toContain('viewers would be operators');
  });
});

describe('values', () => {
  const durations = settings.filter(({ name }) => name.endsWith('-secs')).map(({ name }) => name);

  it.each(durations)('--%s takes decimals from 0.05', (name) => {
    expect(good([`--${name}`, '0.05']).ok).toBe(true);
    for (const bad of ['0.04', '0', '-1', 'x', '', '1s', 'Infinity', '3000000']) expect(faults([`--${name}=${bad}`])).toHaveLength(1);
  });

  it.each([
    ['cache-threshold', ['0', '0.3', '1'], ['-0.1', '1.1', 'NaN']],
    ['balance-rel-threshold', ['1', '2.5'], ['0.99', '']],
    ['balance-abs-threshold', ['0', '64'], ['-1', '1.5']],
    ['retry-max-attempts', ['1', '5'], ['0', '101']],
    ['policy', ['sticky_least_loaded'], ['least_loaded', 'Cache_aware']],
    ['kv-connector', ['auto', 'p2p-nccl', 'nixl', 'moriio'], ['mooncake', 'push']],
    ['discovery-address', ['off', 'OFF', '127.0.0.1:0', '[::1]:30001', '*:30001', 'tcp://0.0.0.0:1'], ['30001', '::1:30001', '1.2.3.4', '1.2.3:30001', 'a:70000']],
    ['discovery-allow', ['10.0.0.0/8', 'fd00::/8', '10.1.2.3'], ['10.0.0.0/33', 'host', '10.0.0.1/8']],
    ['host', ['::', '[::1]', 'localhost', '10.0.0.1'], ['10.0.0', 'a b', 'http://a', '']],
    ['health-check-endpoint', ['/health', '/v1/x?y=z'], ['health', '/a b']],
    ['data-dir', ['memory', './x y'], ['']],
    ['log-level', ['trace', 'silent'], ['verbose']],
    ['pd-usage', ['engine'], ['merged']],
    ['open-metrics', ['true', 'NO', '1'], ['maybe', '']],
    ['max-body-bytes', ['1'], ['0', '1MB']],
  ])('--%s is checked', (name, allowed, refused) => {
    for (const value of allowed) expect(faults([`--${name}=${value}`])).toEqual([]);
    for (const value of refused) {
      const [fault] = faults([`--${name}=${value}`]);
      expect(fault).toContain(`--${name}: ${JSON.stringify(value)} is not accepted`);
    }
  });

  it('tells a planned value from a wrong one', () => {
    expect(faults(['--kv-connector', 'mooncake'])[0]).toContain('planned, but not in this version');
    expect(faults(['--kv-connector', 'push'])[0]).not.toContain('planned');
  });

  it('reports every fault of every source at once', () => {
    expect(faults(['--port', 'x', '--nope'], { SWITCHYARD_ADMIN_PORT: 'y' })).toHaveLength(3);
  });
});

describe('policies of the stages', () => {
  it('are those of the contract whether or not --policy is given', () => {
    expect(good(['--policy', 'random']).config.policy).toMatchObject({ base: 'random', prefill: 'random', decode: 'random' });
    expect(good(['--policy', 'cache_aware']).config.policy.decode).toBe('cache_aware');
    const { config, sources } = good(['--prefill-policy', 'round_robin'], { SWITCHYARD_POLICY: 'random' });
    expect(config.policy).toMatchObject({ prefill: 'round_robin', decode: 'random' });
    expect(sources['decode-policy']).toEqual({ kind: 'default', label: 'default, from SWITCHYARD_POLICY' });
  });
});

describe('settings together', () => {
  it('refuses listeners on one port, except 0 or on different addresses', () => {
    expect(faults(['--port', '9000'])).toEqual(['--port and the default --admin-port are both 9000: listeners need different ports']);
    expect(faults(['--port', '30001'])[0]).toContain('discovery-address');
    expect(good(['--port', '0', '--admin-port', '0', '--discovery-address', '127.0.0.1:0']).ok).toBe(true);
    expect(good(['--host', '127.0.0.2', '--port', '9000']).ok).toBe(true);
    expect(good(['--port', '30001', '--discovery-address', 'off']).ok).toBe(true);
  });

  it('warns of times that do not go with engines', () => {
    expect(good(['--registration-ttl-secs', '3']).warnings[0]).toContain('--registration-ttl-secs is not above the 3 s');
    expect(good(['--upstream-keepalive-secs', '5']).warnings[0]).toContain('--upstream-keepalive-secs is not below the 5 s');
    expect(good().warnings).toEqual([]);
  });
});

describe('vLLM Router flags', () => {
  it.each([
    [['--vllm-discovery-address', '0.0.0.0:1'], { discovery: { address: { port: 1 } } }],
    [['--retry-max-retries', '5'], { upstream: { retryMaxAttempts: 5 } }],
    [['--max-payload-size', '5'], { api: { maxBodyBytes: 5 } }],
    [['--worker-urls', 'http://a:1'], { discovery: { workers: [{ endpoint: 'http://a:1' }] } }],
    [['--api-key', 'k'], { upstream: { apiKey: 'k' } }],
  ])('%j mean the same', (argv, expected) => {
    expect(good(argv).config).toMatchObject(expected);
  });

  it('has aliases in the other sources too, but not beside the name itself', () => {
    expect(good([], { SWITCHYARD_API_KEY: 'k' }).config.upstream.apiKey).toBe('k');
    expect(good(...yaml('api-key: k')).config.upstream.apiKey).toBe('k');
    expect(faults(...yaml('api-key: k\nengine-api-key: k'))[0]).toContain('set the same thing');
  });

  it('accepts the ones that change nothing, with what happens instead', () => {
    const { warnings } = good(['--vllm-pd-disaggregation', '--enable-igw', '--prometheus-port', '29000', '--prometheus-host', '0.0.0.0']);
    expect(warnings).toHaveLength(4);
    expect(warnings[2]).toBe('--prometheus-port is accepted and changes nothing: metrics are at /metrics on the admin port (--admin-port)');
  });

  it('names the replacement of the others', () => {
    expect(faults(['--disable-retries'])[0]).toContain('use --retry-max-attempts 1');
    expect(faults(['--api-key-validation-urls', 'http://a', 'http://b'])).toEqual([
      '--api-key-validation-urls is a vLLM Router setting that Switchyard does not have: use --client-api-key',
    ]);
    expect(faults(['--cb-timeout-duration-secs', '60'])).toEqual(['--cb-timeout-duration-secs is planned, but not in this version']);
    expect(faults(['--queue-size', '60'])).toEqual(['--queue-size is planned, but not in this version']);
  });
});
