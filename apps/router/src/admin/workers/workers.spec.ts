import { departedAnswerSchema, drainsAnswerSchema, endpointAnswerSchema, evictAnswerSchema, quarantineAnswerSchema, workerDetailSchema, workersAnswerSchema, workerSchema } from '@switchyard/core/contracts';

import { AdminHarness, operatorToken } from '../testing/admin-harness.js';

const prefillUrl = 'http://10.0.0.1:8000';
const decodeUrl = 'http://10.0.0.2:8000';
const otherUrl = 'http://10.0.0.3:8000';

describe('operations on workers over HTTP', () => {
  let admin: AdminHarness;
  let prefill: string;
  let decode: string;
  let other: string;
  beforeEach(async () => {
    admin = await AdminHarness.start();
    prefill = admin.register('prefill', prefillUrl);
    decode = admin.register('decode', decodeUrl);
    other = admin.register('decode', otherUrl);
  });
  afterEach(() => admin.close());
  const post = (path: string, body?: unknown) => admin.call('POST', `/api/v1/${path}`, body);

  it('lists and shows workers', async () => {
    const list = workersAnswerSchema.parse((await admin.get('/api/v1/workers')).body);
    expect(list.workers.map(({ id }) => id)).toEqual([prefill, decode, other]);
    expect(list.pools.decode).toEqual({ total: 2, selectable: 2, load: 0, pressure: 0 });
    admin.begin(1);
    const shown = workerDetailSchema.parse((await admin.get(`/api/v1/workers/${prefill}`)).body);
    expect(shown.inflight).toEqual([expect.objectContaining({ requestId: 'r-1', phase: 'prefill' })]);
    expect(shown.load).toBe(1);
  });

  it('tells an unknown worker from one that has left', async () => {
    const unknown = await admin.get('/api/v1/workers/prefill-999');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'unknown_worker']);
    await post(`workers/${other}/evict`, { reason: 'x', quarantineSecs: 0 });
    const successor = admin.register('decode', otherUrl);
    for (const answer of [
      await admin.get(`/api/v1/workers/${other}`),
      await post(`workers/${other}/drain`),
      await post(`workers/${other}/undrain`),
      await post(`workers/${other}/evict`, { reason: 'x' }),
      await admin.call('DELETE', `/api/v1/workers/${other}?force=true`),
    ]) {
      expect([answer.status, answer.body.error.code, answer.body.error.details]).toEqual([409, 'generation_changed', { successorId: successor }]);
    }
    expect(admin.cluster.fleet.byId(successor)!.adminState).toBe('ready');
  });

  it('shows a departed worker while it has work', async () => {
    const grant = admin.begin(1);
    await post(`workers/${prefill}/evict`, { reason: 'x', force: true });
    const shown = workerDetailSchema.parse((await admin.get(`/api/v1/workers/${prefill}`)).body);
    expect(shown).toMatchObject({ leftReason: 'evicted', load: 1 });
    const departed = departedAnswerSchema.parse((await admin.get('/api/v1/departed')).body);
    expect(departed.items).toEqual([expect.objectContaining({ id: prefill, leftReason: 'evicted' })]);
    admin.finish(1, grant);
    expect((await admin.get(`/api/v1/workers/${prefill}`)).body.error).toMatchObject({ code: 'generation_changed', details: { successorId: null } });
    expect((await admin.get('/api/v1/departed')).body.items).toEqual([]);
  });

  it('drains and undrains, idempotently', async () => {
    const drained = await post(`workers/${decode}/drain`, { reason: 'new GPU', deadlineSecs: 600, until: 'undrain' });
    expect(drained.status).toBe(200);
    expect(workerSchema.parse(drained.body)).toMatchObject({
      adminState: 'drained',
      safeToStop: true,
      selectable: false,
      unselectableBecause: ['drained'],
      drain: { by: 'operator', reason: 'new GPU', until: 'undrain', overdue: false },
    });
    expect((await post(`workers/${decode}/drain`)).body.adminState).toBe('drained');
    const { items } = drainsAnswerSchema.parse((await admin.get('/api/v1/drains')).body);
    expect(items).toEqual([expect.objectContaining({ endpoint: decodeUrl, workerId: decode, until: 'restart' })]);
    for (let n = 0; n < 2; n += 1) {
      const undrained = await post(`workers/${decode}/undrain`);
      expect([undrained.status, undrained.body.adminState, undrained.body.drain]).toEqual([200, 'ready', null]);
    }
  });

  it('refuses to drain or evict the last selectable worker, and does it by force', async () => {
    for (const [path, body] of [
      [`workers/${prefill}/drain`, {}],
      [`workers/${prefill}/evict`, { reason: 'x' }],
      ['endpoints/drain', { endpoint: prefillUrl }],
    ] as const) {
      const { status, body: answer } = await post(path, body);
      expect([status, answer.error]).toEqual([
        409,
        {
          code: 'last_selectable_worker',
          message: expect.stringContaining('prefill'),
          remedy: expect.stringContaining('force'),
          details: { role: 'prefill', model: 'm', group: '*', selectable: 1 },
        },
      ]);
    }
    expect(admin.cluster.drains.list()).toEqual([]);
    expect((await post(`workers/${prefill}/drain`, { force: true })).status).toBe(200);
  });

  it('answers 202 when the wait ends before the drain, and 200 when the drain ends first', async () => {
    admin.begin(1);
    const early = await post(`workers/${prefill}/drain?waitSecs=0.1`, { force: true });
    expect([early.status, early.body.adminState]).toEqual([202, 'draining']);
    const waiting = post('endpoints/drain', { endpoint: prefillUrl, force: true, waitSecs: 20 });
    setTimeout(() => admin.finish(1, 1), 100);
    const done = await waiting;
    expect(done.status).toBe(200);
    expect(endpointAnswerSchema.parse(done.body)).toMatchObject({ drained: true, items: [{ id: prefill, adminState: 'drained', safeToStop: true }] });
  });

  it('does not call a drain over when the worker leaves with work', async () => {
    const grant = admin.begin(1);
    await post(`workers/${prefill}/drain`, { force: true });
    const waiting = post(`workers/${prefill}/drain?waitSecs=0.5`, { force: true });
    const left = new Promise((resolve) => setTimeout(resolve, 100)).then(() => admin.cluster.withdraw('prefill', prefillUrl, 'static'));
    const [{ status }] = await Promise.all([waiting, left]);
    expect(status).toBe(202);
    expect((await admin.get(`/api/v1/workers/${prefill}`)).body).toMatchObject({ leftReason: 'withdrawn', load: 1 });
    admin.finish(1, grant);
  });

  it('lets go of waiting answers when the router stops', async () => {
    admin.begin(1);
    const waiting = post(`workers/${prefill}/drain?waitSecs=600`, { force: true }).catch(() => 'closed');
    for (const deadline = Date.now() + 5_000; admin.cluster.drains.list().length === 0 && Date.now() < deadline; ) await new Promise((resolve) => setTimeout(resolve, 10));
    await admin.close();
    await waiting;
  });

  it('drains by endpoint, one role or all of them', async () => {
    const second = admin.register('prefill', otherUrl);
    const one = await post('endpoints/drain', { endpoint: '10.0.0.3:8000', role: 'prefill' });
    expect(one.body.items.map(({ id }: { id: string }) => id)).toEqual([second]);
    expect(one.body.items[0]).toMatchObject({ adminState: 'drained', safeToStop: false });
    const all = await post('endpoints/drain', { endpoint: 'HTTP://10.0.0.3:8000/' });
    expect(all.body.items.map(({ id, safeToStop }: { id: string; safeToStop: boolean }) => [id, safeToStop])).toEqual([
      [second, true],
      [other, true],
    ]);
    const back = await post('endpoints/undrain', { endpoint: otherUrl });
    expect(back.body).toMatchObject({ drained: false, items: [{ adminState: 'ready' }, { adminState: 'ready' }] });
  });

  it('cordons what is not there yet, and nothing else by an unknown address', async () => {
    const nowhere = 'http://10.0.0.9:8000';
    for (const [path, body] of [
      ['endpoints/drain', { endpoint: nowhere }],
      ['endpoints/drain', { endpoint: nowhere, role: 'decode' }],
      ['endpoints/cordon', { endpoint: nowhere }],
      ['endpoints/undrain', { endpoint: nowhere }],
    ] as const) {
      const { status, body: answer } = await post(path, body);
      expect([status, answer.error.code]).toEqual([404, 'unknown_endpoint']);
    }
    const cordoned = await post('endpoints/cordon', { endpoint: nowhere, role: 'decode', reason: 'later' });
    expect([cordoned.status, cordoned.body.items]).toEqual([200, []]);
    expect((await admin.get('/api/v1/drains')).body.items).toEqual([expect.objectContaining({ endpoint: nowhere, workerId: null, until: 'undrain' })]);
    const late = admin.register('decode', nowhere);
    expect((await admin.get(`/api/v1/workers/${late}`)).body.selectable).toBe(false);
    expect((await post('endpoints/uncordon', { endpoint: nowhere, role: 'decode' })).body.items[0].selectable).toBe(true);
  });

  it('evicts into quarantine and readmits', async () => {
    const timed = await post(`workers/${decode}/evict`, { reason: 'bad link', quarantineSecs: 60 });
    const answer = evictAnswerSchema.parse(timed.body);
    expect(answer).toMatchObject({ id: decode, inflight: 0 });
    expect(Date.parse(answer.quarantinedUntil!) - Date.now()).toBeGreaterThan(50_000);
    const { items } = quarantineAnswerSchema.parse((await admin.get('/api/v1/quarantine')).body);
    expect(items).toEqual([expect.objectContaining({ role: 'decode', endpoint: decodeUrl, until: answer.quarantinedUntil, by: 'operator', reason: 'bad link' })]);

    const readmit = `/api/v1/quarantine/decode/${encodeURIComponent(decodeUrl)}`;
    const added = await post('workers', { role: 'decode', url: decodeUrl });
    expect([added.status, added.body.error.code]).toEqual([409, 'quarantined']);
    expect(added.body.error.remedy).toContain(`DELETE ${readmit}`);
    expect((await admin.call('DELETE', readmit)).status).toBe(204);
    const again = await admin.call('DELETE', readmit);
    expect([again.status, again.body.error.code]).toEqual([404, 'not_found']);
    // Whoever still states the endpoint has brought it back.
    expect(admin.cluster.fleet.byKey(`decode|${decodeUrl}`)!.id).not.toBe(decode);
  });

  it('quarantines until readmitted, or not at all', async () => {
    expect((await post(`workers/${decode}/evict`, { reason: 'x', quarantineSecs: -1 })).body.quarantinedUntil).toBe('readmit');
    expect((await admin.get('/api/v1/quarantine')).body.items[0].until).toBeNull();
    expect((await post(`workers/${other}/evict`, { reason: 'x', quarantineSecs: 0, force: true })).body.quarantinedUntil).toBeNull();
  });

  it('adds, shows and removes workers of its own', async () => {
    const added = await post('workers', { role: 'regular', url: 'Engine.example:8000', models: ['a'], group: 'g', zmqAddress: '10.0.0.7:14579' });
    expect(added.status).toBe(201);
    const worker = workerSchema.parse(added.body);
    expect(worker).toMatchObject({ endpoint: 'http://engine.example:8000', sources: ['admin'], models: ['a'], group: 'g', zmqAddress: '10.0.0.7:14579' });
    const twice = await post('workers', { role: 'regular', url: 'http://engine.example:8000' });
    expect([twice.status, twice.body.error.code]).toEqual([409, 'worker_present']);

    const path = `/api/v1/workers/${worker.id}`;
    const refused = await admin.call('DELETE', path);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'not_drained']);
    expect((await admin.call('DELETE', `${path}?force=maybe`)).status).toBe(400);
    expect((await admin.call('DELETE', `${path}?force=true`)).status).toBe(204);
    expect((await admin.get('/api/v1/workers')).body.pools.regular.total).toBe(0);
  });

  it('acts only on the generation that was meant', async () => {
    const { generation } = admin.cluster.fleet.byId(decode)!;
    const moved = await post('endpoints/drain', { endpoint: decodeUrl, ifGeneration: generation + 1 });
    expect([moved.status, moved.body.error.code, moved.body.error.details]).toEqual([409, 'generation_changed', { successorId: decode }]);
    expect((await post(`workers/${decode}/drain`, { ifGeneration: generation + 1 })).status).toBe(409);
    expect((await post(`workers/${decode}/drain`, { ifGeneration: generation })).status).toBe(200);
  });

  it.each([
    ['workers', { role: 'prefill', url: 'http://10.0.0.1' , extra: 1, more: 2 }, 'Unrecognized keys: "extra", "more"'],
    ['workers', { role: 'boss', url: 'http://x:1' }, 'role: '],
    ['workers', { url: 'http://x:1' }, 'role: '],
    ['workers', { role: 'decode', url: 'ftp://x:1' }, 'url: "ftp://x:1" is not the base URL'],
    ['workers', { role: 'decode', url: 'http://x:1/v1' }, 'url: '],
    ['workers', { role: 'decode', url: 'http://x:1', models: [] }, 'models: '],
    ['workers', { role: 'decode', url: 'http://x:1', zmqAddress: 'a___decode_addr_b' }, 'zmqAddress: '],
    ['workers', { role: 'decode', url: 'http://x:1', zmqAddress: 'a'.repeat(257) }, 'zmqAddress: '],
    ['workers', { role: 'decode', url: 'http://x:1', group: 'a/b' }, 'group: '],
    ['workers', { role: 'decode', url: 'http://x:1', group: 'g'.repeat(129) }, 'group: '],
    ['workers', [], 'expected object'],
    ['endpoints/drain', { endpoint: 'x:99999' }, 'endpoint: '],
    ['endpoints/drain', { endpoint: 'x:1', waitSecs: -1 }, 'waitSecs: '],
    ['endpoints/cordon', { endpoint: 'x:1', until: 'restart' }, 'until: '],
    ['workers/decode-2/drain', { deadlineSecs: 'soon' }, 'deadlineSecs: '],
    ['workers/decode-2/drain', { onDeadline: 'explode' }, 'onDeadline: '],
    ['workers/decode-2/evict', {}, 'reason: '],
    ['workers/decode-2/evict', { reason: 'x', quarantineSecs: -2 }, 'quarantineSecs: '],
    ['workers/decode-2/evict', { reason: 'x', quarantineSecs: 31 * 86_400 }, 'quarantineSecs: '],
    ['workers/decode-2/undrain', { ifGeneration: 1.5 }, 'ifGeneration: '],
  ])('refuses a bad body of POST %s: %j', async (path, body, message) => {
    const { status, body: answer } = await post(path, body);
    expect([status, answer.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.error.message).toContain(message);
    expect(answer.error.details.issues.length).toBeGreaterThan(0);
  });

  it('refuses what is not JSON, not a body, or too much of one', async () => {
    const broken = await post(`workers/${decode}/drain`, '{"reason":');
    expect([broken.status, broken.body.error.code]).toEqual([400, 'invalid_json']);
    const form = await fetch(`${admin.origin}/api/v1/workers/${decode}/drain`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'text/csv' },
      body: 'reason,x',
    });
    expect([form.status, ((await form.json()) as any).error.code]).toEqual([415, 'unsupported_media_type']);
    const empty = await admin.call('POST', `/api/v1/workers/${other}/undrain`, '', { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' });
    expect(empty.status).toBe(200);
    const large = await post(`workers/${decode}/drain`, { reason: 'x'.repeat(1_100_000) });
    expect([large.status, large.body.error.code]).toEqual([413, 'body_too_large']);
    expect(admin.cluster.fleet.byId(other)!.adminState).toBe('ready');
  });
});
