import { TrafficHistory } from '@switchyard/core';
import { aboutSchema, cacheAnswerSchema, cacheTreeAnswerSchema, eventsAnswerSchema, handoffsAnswerSchema, overviewAnswerSchema, receiptSchema, requestsAnswerSchema } from '@switchyard/core/contracts';

import { Listeners } from '../about/listeners.js';
import { AdminHarness } from '../testing/admin-harness.js';
import { eventually } from '../testing/eventually.js';

describe('what viewers see over HTTP', () => {
  let admin: AdminHarness;
  let worker: string;
  beforeEach(async () => {
    admin = await AdminHarness.start();
    worker = admin.register('regular', 'http://10.0.0.1:8000');
  });
  afterEach(() => admin.close());

  it('requests and their receipts', async () => {
    admin.finish(1, admin.begin(1));
    admin.begin(2);
    const all = requestsAnswerSchema.parse((await admin.get('/api/v1/requests')).body);
    expect(all.items.map(({ requestId, state }) => [requestId, state])).toEqual([
      ['r-2', 'inflight'],
      ['r-1', 'recent'],
    ]);
    expect((await admin.get('/api/v1/requests?state=recent&limit=5')).body.items).toHaveLength(1);
    expect((await admin.get(`/api/v1/requests?worker=${worker}&model=m`)).body.items).toHaveLength(2);
    expect((await admin.get('/api/v1/requests?model=other')).body.items).toEqual([]);
    const receipt = receiptSchema.parse((await admin.get('/api/v1/requests/r-1')).body);
    expect(receipt).toMatchObject({ outcome: 'ok', status: 200, usage: { promptTokens: 10 }, attempts: [{ phase: 'single', chosen: worker, outcome: 'ok' }] });
    const unknown = await admin.get('/api/v1/requests/nope');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'unknown_request']);
  });

  it('caches and their heaviest prefixes', async () => {
    admin.finish(1, admin.begin(1));
    const { items } = cacheAnswerSchema.parse((await admin.get('/api/v1/cache')).body);
    expect(items.find(({ role }) => role === 'regular')).toMatchObject({ model: 'm', workers: [{ id: worker }] });
    const tree = cacheTreeAnswerSchema.parse((await admin.get('/api/v1/cache/tree?role=regular&model=m&depth=3&limit=10')).body);
    expect(Array.isArray(tree.items)).toBe(true);
    expect((await admin.get('/api/v1/cache/tree?role=regular')).body.items).toEqual(tree.items);
    expect((await admin.get('/api/v1/cache/tree?role=regular&model=other')).body.items).toEqual([]);
  });

  it('events, page by page', async () => {
    for (let n = 0; n < 4; n += 1) {
      await admin.call('POST', `/api/v1/workers/${worker}/drain`, { force: true });
      await admin.call('POST', `/api/v1/workers/${worker}/undrain`);
    }
    const first = eventsAnswerSchema.parse((await admin.get('/api/v1/events?after=0&limit=3')).body);
    expect(first.items.map(({ eventSeq, type }) => [eventSeq, type])).toEqual([
      [1, 'registered'],
      [2, 'drain'],
      [3, 'drained'],
    ]);
    expect(first.next).toBe(3);
    expect(first.items[1]).toMatchObject({ actor: 'operator', worker, role: 'regular', endpoint: 'http://10.0.0.1:8000' });
    const rest = (await admin.get('/api/v1/events?after=3&limit=1000')).body;
    expect(rest.items).toHaveLength(10);
    expect(rest.next).toBeUndefined();
    const newest = (await admin.get('/api/v1/events?limit=2')).body;
    expect(newest.items.map(({ eventSeq }: { eventSeq: number }) => eventSeq)).toEqual([12, 13]);
    const chosen = (await admin.get('/api/v1/events?type=undrain&type=registered')).body.items;
    expect(chosen.map(({ type }: { type: string }) => type)).toEqual(['registered', 'undrain', 'undrain', 'undrain', 'undrain']);
  });

  it('the overview', async () => {
    admin.finish(1, admin.begin(1));
    admin.begin(2);
    const { now, windowSecs } = overviewAnswerSchema.parse((await admin.get('/api/v1/overview')).body);
    expect(now).toMatchObject({ inflight: 1, queued: 0, errorShare: 0 });
    expect(now.rps).toBeGreaterThan(0);
    expect(windowSecs).toBe(60);
  });

  it('the overview over a longer time, with the way there', async () => {
    const traffic = admin.app.get(TrafficHistory);
    traffic.look(() => ({ inflight: 3, queued: 1 }));
    await eventually(async () => {
      const { windowSecs, series } = overviewAnswerSchema.parse((await admin.get('/api/v1/overview?windowSecs=900')).body);
      expect(windowSecs).toBe(900);
      expect(series!.inflight).toEqual([[expect.any(Number), 3]]);
      expect(Math.abs(series!.inflight[0]![0] - Date.now())).toBeLessThan(5_000);
    });
    expect((await admin.get('/api/v1/overview?windowSecs=86400')).body).toMatchObject({ windowSecs: 86_400, series: { rps: [] } });
  });

  it('hand-offs, and KV that was left behind', async () => {
    admin.register('prefill', 'http://10.0.0.8:8000');
    admin.register('decode', 'http://10.0.0.9:8000');
    const [grant, left] = [admin.begin(1), admin.begin(2)];
    for (const id of [grant, left]) admin.cluster.scheduler.prefillDone(id, { connector: null, engineId: null });
    admin.cluster.scheduler.end(left, { phase: 'decode', result: 'cancelled', status: null, fault: null, timings: { prefillMs: 1, handoffMs: null, firstByteMs: null } });
    const { items } = handoffsAnswerSchema.parse((await admin.get('/api/v1/handoffs')).body);
    expect(items).toMatchObject([
      { requestId: 'r-1', decodeId: null, stage: 'waiting', maxAgeMs: 20_000 },
      { requestId: 'r-2', decodeId: null, stage: 'stranded', maxAgeMs: 30_000 },
    ]);
  });

  it('what commands are filled with', async () => {
    expect(aboutSchema.parse((await admin.get('/api/v1/about')).body)).toMatchObject({ discoveryPort: 30_001, durable: false, handoffMaxAgeMs: 20_000, registrationTtlMs: 10_000 });
    admin.app.get(Listeners).bound({ apiPort: 1, adminPort: 2, discoveryPort: null });
    const { body } = await admin.get('/api/v1/about');
    expect(body).toMatchObject({ apiPort: 1, adminPort: 2, discoveryPort: null });
    expect(body.advertiseHost).not.toMatch(/^(0\.0\.0\.0|::)?$/);
  });

  it.each(['requests?state=odd', 'requests?limit=0', 'overview?windowSecs=0', 'overview?windowSecs=86401', 'requests?limit=9999', 'events?after=x', 'events?type=nonsense', 'cache/tree?role=boss', 'cache/tree?depth=-1'])(
    'refuses GET %s and names the parameter',
    async (path) => {
      const { status, body } = await admin.get(`/api/v1/${path}`);
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
      expect(body.error.message).toContain(/\?(\w+)=/.exec(path)![1]!);
    },
  );

  it('metrics', async () => {
    const { status, body, headers } = await admin.get('/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/plain');
    expect(body).toContain('switchyard_worker_load{role="regular",endpoint="http://10.0.0.1:8000"} 0');
  });

  it('the description of the API', async () => {
    const { body } = await admin.get('/api/openapi.json');
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(['/api/v1/workers', '/api/v1/workers/{id}/drain', '/api/v1/endpoints/drain', '/api/v1/quarantine/{role}/{endpoint}', '/api/v1/config', '/api/v1/session']),
    );
    expect(body.paths['/api/v1/workers'].post.requestBody.content['application/json'].schema.properties).toHaveProperty('url');
    expect(JSON.stringify(body.paths['/api/v1/workers'].get.responses['200'])).toContain('#/components/schemas/Worker');
    expect(body.components.schemas.Worker.properties).toHaveProperty('safeToStop');
    const page = await admin.get('/api/docs');
    expect(page.status).toBe(200);
    // Its content policy lets no inline script run.
    expect(page.body).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>/);
  });
});
