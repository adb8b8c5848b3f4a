import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { runCli } from './run-cli.js';
import { temporaryDirectory } from '../testing/temporary-directory.js';

const folder = temporaryDirectory();

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

const worker = {
  id: 'prefill-41',
  role: 'prefill',
  endpoint: 'http://10.0.0.1:8000',
  group: null,
  models: ['m'],
  modelsKnown: true,
  adminState: 'drained',
  health: 'healthy',
  heartbeat: 'ok',
  selectable: false,
  unselectableBecause: ['drained'],
  load: 0,
  holds: { kvOut: 0, bound: 0 },
  departedWork: { leases: 0, holds: 0 },
  safeToStop: true,
  processed: 7,
};
const pools = { prefill: { total: 1, selectable: 1, load: 2 }, decode: { total: 2, selectable: 1, load: 0 }, regular: { total: 0, selectable: 0, load: 0 } };

let server: Server;
let admin: string;
let asked: Asked[];
let answers: Record<string, readonly [number, unknown]>;

beforeEach(async () => {
  asked = [];
  answers = {};
  server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      asked.push({ method: request.method!, url: request.url!, authorization: request.headers.authorization, body: text === '' ? null : JSON.parse(text) });
      const [status, body] = answers[`${request.method} ${request.url}`] ?? [404, { error: { code: 'not_found', message: 'no such route' } }];
      response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body));
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  admin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

async function run(argv: readonly string[], env: Readonly<Record<string, string>> = { SWITCHYARD_ADMIN: admin, SWITCHYARD_TOKEN: 't' }) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCli(argv, { env, out: (text) => out.push(text), err: (text) => err.push(text) });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('drain', () => {
  it('asks for the canonical endpoint with all it was told', async () => {
    answers['POST /api/v1/endpoints/drain'] = [200, { items: [worker], drained: true }];
    const { code, out } = await run(['drain', 'HTTP://10.0.0.1:8000/', '--role', 'prefill', '--wait', '5', '--force', '--reason', 'kernel', '--until', 'undrain']);
    expect(code).toBe(0);
    expect(out).toBe('prefill-41 http://10.0.0.1:8000: drained, safe to stop');
    expect(asked).toEqual([
      {
        method: 'POST',
        url: '/api/v1/endpoints/drain',
        authorization: 'Bearer t',
        body: { endpoint: 'http://10.0.0.1:8000', role: 'prefill', until: 'undrain', reason: 'kernel', force: true, waitSecs: 5 },
      },
    ]);
  });

  it('sends nothing that was not said', async () => {
    answers['POST /api/v1/endpoints/drain'] = [200, { items: [{ ...worker, adminState: 'draining', load: 3, safeToStop: false }], drained: false }];
    const { code, out } = await run(['drain', '10.0.0.1:8000']);
    expect(code).toBe(0);
    expect(out).toBe('prefill-41 http://10.0.0.1:8000: draining, 3 still open');
    expect(asked[0]!.body).toEqual({ endpoint: 'http://10.0.0.1:8000' });
  });

  it('exits 3 when the wait is over first', async () => {
    answers['POST /api/v1/endpoints/drain'] = [202, { items: [worker], drained: false }];
    const { code, err } = await run(['drain', '10.0.0.1:8000', '--wait', '0.2']);
    expect(code).toBe(3);
    expect(err).toBe('switchyard: not drained after 0.2 s');
  });

  it('exits 1 when refused, with the reason and the way out', async () => {
    answers['POST /api/v1/endpoints/drain'] = [409, { error: { code: 'last_selectable_worker', message: 'model m could not be placed afterwards', remedy: 'drain with force' } }];
    const { code, err } = await run(['drain', '10.0.0.1:8000', '--wait', '5']);
    expect(code).toBe(1);
    expect(err).toBe('switchyard: model m could not be placed afterwards (last_selectable_worker); bring another one up first, or repeat with --force');
  });

  it('exits 1 when there is no router, no JSON or no token', async () => {
    expect(await run(['drain', '10.0.0.1:8000', '--admin', 'http://127.0.0.1:1'])).toMatchObject({ code: 1, err: expect.stringContaining('cannot reach the admin API at http://127.0.0.1:1') });
    answers['POST /api/v1/endpoints/drain'] = [200, '<html>'];
    expect(await run(['drain', '10.0.0.1:8000'])).toMatchObject({ code: 1, err: expect.stringContaining('is it the admin listener?') });
    answers['POST /api/v1/endpoints/drain'] = [401, { error: { code: 'unauthorized', message: 'no' } }];
    expect(await run(['drain', '10.0.0.1:8000'], { SWITCHYARD_ADMIN: admin })).toMatchObject({ code: 1, err: expect.stringContaining('give --token or SWITCHYARD_TOKEN') });
    expect(asked.at(-1)!.authorization).toBeUndefined();
  });

  it.each([
    [['drain'], 'exactly one ENDPOINT'],
    [['drain', 'a:1', 'b:1'], 'exactly one ENDPOINT'],
    [['drain', '10.0.0.1'], 'the port is missing'],
    [['drain', 'a:1', '--role', 'both'], '--role must be one of prefill, decode, regular'],
    [['drain', 'a:1', '--until', 'never'], '--until must be one of restart, undrain'],
    [['drain', 'a:1', '--wait', 'long'], '--wait must be seconds'],
    [['drain', 'a:1', '--nope'], "Unknown option '--nope'"],
    [['drain', 'a:1', '--admin', 'ftp://x'], '--admin "ftp://x": the scheme must be http or https'],
  ])('%j exits 2 and asks nobody', async (argv, message) => {
    const { code, err } = await run(argv);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(asked).toEqual([]);
  });

  it('takes the token from a file', async () => {
    const file = join(folder, 'token');
    writeFileSync(file, 'from-file\n');
    answers['GET /api/v1/workers'] = [200, { workers: [], pools }];
    await run(['workers', '--token-file', file]);
    await run(['workers'], { SWITCHYARD_ADMIN: admin, SWITCHYARD_TOKEN_FILE: file });
    await run(['workers', '--token', 'flag'], { SWITCHYARD_ADMIN: admin, SWITCHYARD_TOKEN_FILE: file });
    expect(asked.map(({ authorization }) => authorization)).toEqual(['Bearer from-file', 'Bearer from-file', 'Bearer flag']);
  });
});

it('undrain asks for the end of the drain', async () => {
  answers['POST /api/v1/endpoints/undrain'] = [200, { items: [{ ...worker, adminState: 'ready', safeToStop: false }] }];
  const { code, out } = await run(['undrain', '10.0.0.1:8000', '--role=prefill']);
  expect(code).toBe(0);
  expect(out).toBe('prefill-41 http://10.0.0.1:8000: ready');
  expect(asked[0]!.body).toEqual({ endpoint: 'http://10.0.0.1:8000', role: 'prefill' });
});

describe('workers', () => {
  it('lists them in columns', async () => {
    answers['GET /api/v1/workers'] = [200, { seq: 1, workers: [worker, { ...worker, id: 'decode-2', selectable: true, adminState: 'ready', modelsKnown: false }], pools }];
    const { code, out } = await run(['workers']);
    const lines = out.split('\n');
    expect(code).toBe(0);
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^prefill-41 +http:\/\/10\.0\.0\.1:8000 +drained +healthy +ok +no: drained +0 +0 +7 +- +m$/);
    expect(lines[2]).toMatch(/^decode-2 .* yes .*not known yet$/);
  });

  it('gives the answer itself with --json', async () => {
    const body = { seq: 1, workers: [worker], pools, more: true };
    answers['GET /api/v1/workers'] = [200, body];
    expect(JSON.parse((await run(['workers', '--json'])).out)).toEqual(body);
  });

  it('says when the router is of another version', async () => {
    answers['GET /api/v1/workers'] = [200, { workers: [{ id: 'x' }], pools }];
    expect(await run(['workers'])).toMatchObject({ code: 1, err: expect.stringContaining('workers.0.role') });
  });
});

describe('status', () => {
  const open = (role: string, group: string, more = {}) => ({ ...worker, id: `${role}-of-${group}`, role, group, adminState: 'ready', selectable: true, unselectableBecause: [], ...more });
  const firstLine = async (...workers: readonly object[]) => {
    answers['GET /api/v1/workers'] = [200, { workers, pools }];
    return (await run(['status'])).out.split('\n')[0];
  };

  beforeEach(() => {
    answers['GET /api/v1/workers'] = [200, { workers: [worker, open('prefill', '0.11.0'), open('decode', '0.11.0')], pools }];
    answers['GET /api/v1/overview'] = [200, { windowSecs: 60, now: { rps: 1.25, inflight: 2, queued: 0, errorShare: 0.015 } }];
  });

  it('tells what is served and what is not', async () => {
    const { code, out } = await run(['status']);
    expect(code).toBe(0);
    expect(out).toMatch(/^serving prefill\/decode pairs$/m);
    expect(out).toContain('2 in flight, 1.3 requests/s, 1.5 % errors');
    expect(out).toContain('prefill-41 http://10.0.0.1:8000 selectable no: drained');
  });

  it('says so when nothing can be served', async () => {
    expect(await firstLine()).toBe('serving nothing: no selectable pair and no regular worker');
    expect(await firstLine(worker, open('decode', '0.11.0'))).toBe('serving nothing: no selectable pair and no regular worker');
  });

  it('counts only those as pairs that may share a request', async () => {
    expect(await firstLine(open('prefill', '0.11.0'), open('decode', '0.12.0'))).toBe('serving nothing: no selectable prefill and decode worker are of one group');
    expect(await firstLine(open('prefill', '*'), open('decode', '0.12.0'))).toBe('serving prefill/decode pairs');
    expect(await firstLine(open('prefill', '0.11.0'), open('regular', '0.12.0'))).toBe('serving regular workers');
  });

  it('names the models that get nothing', async () => {
    const pair = [open('prefill', 'g'), open('decode', 'g')];
    expect(await firstLine(...pair, open('prefill', 'g', { models: ['big'] }))).toBe('serving prefill/decode pairs, but not big');
    expect(await firstLine(...pair, open('prefill', 'g', { models: ['big'] }), open('decode', 'g', { models: [], modelsKnown: false }))).toBe('serving prefill/decode pairs');
  });
});
