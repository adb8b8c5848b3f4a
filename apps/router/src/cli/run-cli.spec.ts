import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

import { settings } from '../config/settings.js';
import { bringUpToDate } from './generated-docs.js';
import { runCli } from './run-cli.js';
import { temporaryDirectory } from '../testing/temporary-directory.js';

const folder = temporaryDirectory();

async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCli(argv, { env, out: (text) => out.push(text), err: (text) => err.push(text) });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('dispatch', () => {
  it('prints the version', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, out: '0.1.0', err: '' });
  });

  it('lists every command and setting in --help', async () => {
    const { code, out } = await run(['--help']);
    expect(code).toBe(0);
    for (const name of ['serve', 'check-config', 'announce', 'drain', 'undrain', 'workers', 'status']) expect(out).toContain(`\n  ${name}`);
    for (const { name, shape, default: fallback } of settings) expect(out).toContain(shape === 'switch' && fallback === true ? `--no-${name}` : `--${name}`);
  });

  it.each(['serve', 'check-config', 'drain', 'undrain', 'workers', 'status', 'docs'])('%s has a usage', async (name) => {
    const { code, out } = await run([name, '--help']);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^usage: switchyard ${name}`));
  });

  it('exits 2 on an unknown command and on faulty settings, naming them', async () => {
    expect(await run(['drian'])).toEqual({ code: 2, out: '', err: 'switchyard: there is no command "drian"; did you mean drain? (see switchyard --help)' });
    expect(await run(['--port', '70000', '--nope'])).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^switchyard: --nope is unknown[^]*\nswitchyard: --port: "70000"/) });
    expect(await run(['serve', '--prot', '1'])).toMatchObject({ code: 2, err: 'switchyard: --prot is unknown; did you mean --port?' });
  });
});

describe('check-config', () => {
  it('prints a config file with the source of every value, secrets masked', async () => {
    const argv = ['check-config', '--port', '1', '--admin-token', 'hush', '--prefill', 'http://a:1;group=g', '8998'];
    const { code, out } = await run(argv, { SWITCHYARD_LOG_LEVEL: 'debug' });
    expect(code).toBe(0);
    expect(out).toMatch(/^port: 1 +# --port$/m);
    expect(out).toMatch(/^log-level: debug +# SWITCHYARD_LOG_LEVEL$/m);
    expect(out).toMatch(/^# viewer-token: +# default$/m);
    expect(out).not.toContain('hush');
    expect(parse(out)).toMatchObject({ port: 1, 'admin-token': '********', prefill: ['http://a:1;group=g 8998'], 'discovery-address': '0.0.0.0:30001' });
  });

  it('prints what a --config file takes back', async () => {
    const file = join(folder, 'sw.yaml');
    const argv = ['--decode', 'http://[::1]:1', '--hold-head-secs', '1', '--discovery-address', 'off', '--no-health-gate', '--data-dir', '/a b'];
    const first = await run(['check-config', ...argv]);
    writeFileSync(file, first.out);
    const second = await run(['check-config', '--config', file]);
    expect(second.err).toBe('');
    expect(parse(second.out)).toEqual(parse(first.out));
  });

  it('exits 1 with one line a fault', async () => {
    const { code, out, err } = await run(['check-config', '--port', 'x', '--policy', 'y']);
    expect([code, out, err.split('\n').length]).toEqual([1, '', 2]);
  });

  it('tells warnings and gives JSON', async () => {
    expect((await run(['check-config', '--enable-igw'])).err).toContain('warning: --enable-igw is accepted and changes nothing');
    const { out } = await run(['check-config', '--json', '--port', '5']);
    expect(JSON.parse(out).items).toContainEqual({ name: 'port', group: 'api', value: 5, shown: '5', source: { kind: 'flag', label: '--port' }, live: false });
  });
});

describe('generated documentation', () => {
  const root = temporaryDirectory();
  const page = { path: 'docs/a.md', section: null, render: () => 'text' };
  const part = { path: 'README.md', section: 'x', render: async () => 'new' };

  it('is written where it differs, and then differs no more', async () => {
    writeFileSync(join(root, 'README.md'), 'before\n<!-- generated: x -->\nold\n<!-- end: x -->\nafter\n');
    expect(await bringUpToDate(root, [page, part], true)).toEqual(['docs/a.md', 'README.md (x)']);
    expect(await bringUpToDate(root, [page, part], false)).toEqual(['docs/a.md', 'README.md (x)']);
    expect(await bringUpToDate(root, [page, part], true)).toEqual([]);
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toBe('before\n<!-- generated: x -->\nnew\n<!-- end: x -->\nafter\n');
  });

  it('needs its markers', async () => {
    writeFileSync(join(root, 'README.md'), 'nothing');
    await expect(bringUpToDate(root, [part], true)).rejects.toThrow('README.md has no <!-- generated: x -->');
  });
});
