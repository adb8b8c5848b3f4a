import { type ConfigSources } from './raw-value.js';
import { type Config } from './settings.js';
import { type StaticEngine } from './static-engine.js';

export interface TogetherCheck {
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
}

/** vLLM engines ping every 3 s. */
const enginePingSecs = 3;
/** uvicorn, which serves vLLM, closes idle connections after 5 s. */
const uvicornKeepaliveSecs = 5;

/** Checks values against each other; each is in its own range already. */
export function checkTogether(config: Config, sources: ConfigSources): TogetherCheck {
  const written = (name: string): string => (sources[name]?.kind === 'default' ? `the default --${name}` : (sources[name]?.label ?? name));
  return {
    faults: [...samePorts(config, written), ...sameTokens(config, written), ...sameEngines(config)],
    warnings: [
      ...(config.discovery.registrationTtlSecs <= enginePingSecs
        ? [`${written('registration-ttl-secs')} is not above the ${enginePingSecs} s between two pings of an engine: engines will come and go`]
        : []),
      ...(config.upstream.keepaliveSecs >= uvicornKeepaliveSecs
        ? [`${written('upstream-keepalive-secs')} is not below the ${uvicornKeepaliveSecs} s after which engines close idle connections: some requests will meet a closing one`]
        : []),
    ],
  };
}

type Written = (name: string) => string;

function samePorts({ api, admin, discovery }: Config, written: Written): readonly string[] {
  const listeners = [
    { name: 'port', host: api.host, port: api.port },
    { name: 'admin-port', host: admin.host, port: admin.port },
    ...(discovery.address === null ? [] : [{ name: 'discovery-address', ...discovery.address }]),
  ];
  return listeners.flatMap((one, at) =>
    listeners
      .slice(at + 1)
      .filter((other) => one.port !== 0 && one.port === other.port && overlap(one.host, other.host))
      .map((other) => `${written(one.name)} and ${written(other.name)} are both ${one.port}: listeners need different ports`),
  );
}

function overlap(a: string, b: string): boolean {
  const everything = ['0.0.0.0', '::'];
  return a === b || everything.includes(a) || everything.includes(b);
}

function sameTokens({ admin }: Config, written: Written): readonly string[] {
  if (admin.token === null || admin.token !== admin.viewerToken) return [];
  return [`${written('admin-token')} and ${written('viewer-token')} are the same: viewers would be operators`];
}

function sameEngines({ discovery }: Config): readonly string[] {
  const twice = (name: string, engines: readonly StaticEngine[]): readonly string[] =>
    engines
      .filter(({ endpoint }, at) => engines.findIndex((other) => other.endpoint === endpoint) !== at)
      .map(({ endpoint }) => `--${name}: ${endpoint} is listed twice`);
  return [...twice('prefill', discovery.prefill), ...twice('decode', discovery.decode), ...twice('worker-url', discovery.workers)];
}
