import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

import { Child } from '../support/child.js';
import { eventually } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { withTemporaryDirectory } from '../support/router-process.js';
import { switchyard } from '../support/switchyard-cli.js';

/** Enough to start when nothing else is wrong, so that only the fault under test stops it. */
const free = ['--host', '127.0.0.1', '--port', '0', '--admin-port', '0', '--discovery-address', 'off', '--data-dir', 'memory'];

describe('settings that cannot be used', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  async function refused(args: readonly string[], env: Readonly<Record<string, string>>, named: readonly string[]): Promise<void> {
    const ended = await switchyard(['serve', ...free, ...args], env, 15_000);
    expect([args, env, ended.code, ended.out]).toEqual([args, env, 2, '']);
    for (const word of named) expect(ended.err).toContain(word);
    expect(ended.err).not.toContain('    at ');
  }

  it('flags: unknown, out of range or of another kind stop the start with exit 2 and one line that names them', async () => {
    const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
      [['--prot', '1'], ['--prot', '--port']],
      [['--port', '65536'], ['--port', '65536']],
      [['--port', '-1'], ['--port', '-1']],
      [['--port', '1e3'], ['--port']],
      [['--port'], ['--port', 'needs a value']],
      [['stray'], ['stray']],
      [['--policy', 'cheapest'], ['--policy', 'cheapest', 'cache_aware']],
      [['--decode-policy', ''], ['--decode-policy']],
      [['--registration-ttl-secs', '0'], ['--registration-ttl-secs']],
      [['--registration-ttl-secs', '0.01'], ['--registration-ttl-secs', '0.05']],
      [['--registration-ttl-secs', 'NaN'], ['--registration-ttl-secs']],
      [['--request-timeout-secs', 'Infinity'], ['--request-timeout-secs']],
      [['--retry-max-attempts', '0'], ['--retry-max-attempts']],
      [['--cache-threshold', '1.5'], ['--cache-threshold']],
      [['--balance-rel-threshold', '0.5'], ['--balance-rel-threshold']],
      [['--discovery-allow', '10.0.0.0/33'], ['--discovery-allow', '10.0.0.0/33']],
      [['--discovery-allow', '10.0.0.7/8'], ['--discovery-allow', '10.0.0.0/8']],
      [['--discovery-address', 'localhost'], ['--discovery-address']],
      [['--prefill', 'ftp://a:1'], ['--prefill', 'ftp://a:1']],
      [['--prefill', 'http://a:1', '99999'], ['--prefill', '99999']],
      [['--decode', 'http://a:1/v1'], ['--decode']],
      [['--worker-url', 'http://a:1', 'http://A:1/'], ['--worker-url', 'twice']],
      [['--kv-connector', 'push'], ['--kv-connector', 'push']],
      [['--kv-connector', 'mooncake'], ['--kv-connector', 'not in this version']],
      [['--health-check-endpoint', 'health'], ['--health-check-endpoint']],
      [['--admin-token', 'a b'], ['--admin-token']],
      [['--admin-token', 'same', '--viewer-token', 'same'], ['--admin-token', '--viewer-token']],
      [['--admin-token-file', '/nowhere/token'], ['--admin-token-file', '/nowhere/token']],
      [['--max-body-bytes', '0'], ['--max-body-bytes']],
      [['--log-level', 'loud'], ['--log-level', 'loud']],
      [['--queue-size', '3'], ['--queue-size', 'not in this version']],
      [['--disable-retries'], ['--disable-retries', '--retry-max-attempts 1']],
      [['--no-port'], ['--no-port']],
      [['--config', '/nowhere.yaml'], ['--config', '/nowhere.yaml']],
    ];
    for (let from = 0; from < cases.length; from += 4) await Promise.all(cases.slice(from, from + 4).map(([args, named]) => refused(args, {}, named)));
  });

  it('variables and files likewise, and all faults at once', async () => {
    await withTemporaryDirectory(async (path) => {
      const file = join(path, 'sw.yaml');
      const withFile = async (text: string, named: readonly string[]): Promise<void> => {
        await writeFile(file, text);
        await refused(['--config', file], {}, named);
      };
      await refused([], { SWITCHYARD_POLICY: 'nope' }, ['SWITCHYARD_POLICY', 'nope']);
      await refused([], { SWITCHYARD_CLIENT_API_KEY: '' }, ['SWITCHYARD_CLIENT_API_KEY']);
      await refused([], { SWITCHYARD_HEALTH_GATE: 'maybe' }, ['SWITCHYARD_HEALTH_GATE']);
      await withFile('prot: 1\n', ['prot', file]);
      await withFile('policy: [a\n', [file]);
      await withFile('- policy\n', [file]);
      await withFile('policy: round_robin\npolicy: random\n', [file, 'line 2']);
      await withFile('policy:\n  decode: random\n', [file, 'policy']);
      await withFile('registration-ttl-secs: soon\n', ['registration-ttl-secs', 'soon', file]);
      await withFile('discovery-allow: [10.0.0.0/8, nonsense]\n', ['discovery-allow', 'nonsense']);
      await writeFile(file, 'log-level: loud\n');
      const ended = await switchyard(['serve', '--config', file, '--port', 'x'], { SWITCHYARD_ADMIN_PORT: 'y' });
      expect(ended.code).toBe(2);
      expect(ended.err.trim().split('\n')).toHaveLength(3);
      const check = await switchyard(['check-config', '--config', file, '--port', 'x'], { SWITCHYARD_ADMIN_PORT: 'y' });
      expect([check.code, check.err.trim().split('\n').length]).toEqual([1, 3]);
    });
  });

  it('a secret is never shown, neither refused nor in check-config', async () => {
    const secret = 'hunter2 with a space';
    const bad = await switchyard(['serve', ...free, '--admin-token', secret]);
    expect([bad.code, bad.err.includes('hunter2')]).toEqual([2, false]);
    const good = await switchyard(['check-config', '--admin-token', 'hunter2', '--client-api-key', 'hunter3', '--engine-api-key', 'hunter4']);
    expect([good.code, /hunter\d/.test(good.out + good.err)]).toEqual([0, false]);
  });

  it('what vLLM Router takes and Switchyard does otherwise is accepted with a warning', async () => {
    const ended = await switchyard(['check-config', '--vllm-pd-disaggregation', '--enable-igw', '--prometheus-port', '9', '--vllm-discovery-address', '127.0.0.1:5', '--max-payload-size', '7']);
    expect(ended.code).toBe(0);
    for (const word of ['--vllm-pd-disaggregation', '--enable-igw', '--prometheus-port']) expect(ended.err).toContain(word);
    expect(ended.out).toContain('discovery-address: 127.0.0.1:5');
    expect(ended.out).toContain('max-body-bytes: 7');
  });

  it('a port that is taken stops the start with exit 2 and names the flag, whichever it is', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    started.add(taken, (server) => server.close());
    const port = String((taken.address() as AddressInfo).port);
    for (const [args, named] of [
      [['--port', port], '--port'],
      [['--admin-port', port], '--admin-port'],
      [['--discovery-address', `127.0.0.1:${port}`], '--discovery-address'],
    ] as const) {
      const ended = await switchyard(['serve', ...free, ...args], {}, 15_000);
      expect([args, ended.code, ended.out]).toEqual([args, 2, '']);
      expect(ended.err).toContain(port);
      expect(ended.err).toContain(named);
    }
  });

  it('unknown commands and flags of the operator commands exit 2', async () => {
    for (const [args, named] of [
      [['servee'], 'serve'],
      [['drain'], 'ENDPOINT'],
      [['drain', '127.0.0.1:1', '--until', 'later'], '--until'],
      [['drain', '127.0.0.1:1', '--role', 'both'], '--role'],
      [['drain', '127.0.0.1:1', '--wait', 'long'], '--wait'],
      [['workers', '--admin', 'nonsense'], '--admin'],
      [['status', '--zzz'], '--zzz'],
    ] as const) {
      const ended = await switchyard(args);
      expect([args, ended.code]).toEqual([args, 2]);
      expect(ended.err).toContain(named);
    }
  });

  it('without an operator token a random one is made and printed once as a URL that opens', async () => {
    const child = started.add(new Child(process.execPath, ['dist/apps/router/main.js', 'serve', ...free]), (it) => it.stop());
    const [, admin = ''] = await child.line(/^listening api=\S+ admin=(\S+) discovery=off$/);
    const token = await eventually('the URL', () => {
      const text = [...child.stdout, ...child.stderr].join('\n');
      return /https?:\/\/\S*[#?&]token=([\w-]{16,})/.exec(text)?.[1] ?? null;
    });
    expect((await fetch(`http://${admin}/api/v1/workers`)).status).toBe(401);
    expect((await fetch(`http://${admin}/api/v1/workers`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    expect([...child.stdout, ...child.stderr].filter((line) => line.includes(token))).toHaveLength(1);
  });
});
