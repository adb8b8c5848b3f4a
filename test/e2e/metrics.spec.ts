import { eventually } from '../support/eventually.js';
import { Started } from '../support/fleet.js';
import { readSamples, type Sample, sumOf } from '../support/prometheus-text.js';
import { type RouterProcess } from '../support/router-process.js';
import { answerJson, completion, event, ScriptedEngine, startEvents } from '../support/scripted-engine.js';

/** Names and label sets of the contract, histograms by their base name. */
const contract: Readonly<Record<string, readonly string[]>> = {
  requests_total: ['route', 'model', 'status'],
  request_duration_seconds: ['route'],
  time_to_first_byte_seconds: ['route'],
  phase_duration_seconds: ['phase'],
  inflight_requests: [],
  queue_depth: [],
  queue_wait_seconds: [],
  worker_load: ['role', 'endpoint'],
  worker_pressure: ['role', 'endpoint'],
  worker_holds: ['role', 'endpoint', 'kind'],
  worker_processed_total: ['role', 'endpoint'],
  worker_selectable: ['role', 'endpoint'],
  worker_circuit_state: ['role', 'endpoint'],
  worker_info: ['role', 'endpoint', 'worker', 'generation', 'group', 'version'],
  placements_total: ['policy', 'reason'],
  placement_duration_seconds: [],
  prefix_index_covered_bytes: ['role', 'model'],
  prefix_index_hits_total: [],
  prefix_index_misses_total: [],
  prefix_index_evictions_total: [],
  registrations_total: ['kind'],
  leases_live: [],
  leases_leaked_total: [],
  retries_total: ['reason'],
  upstream_errors_total: ['kind'],
  client_aborts_total: ['phase'],
  event_loop_delay_seconds: [],
};

describe('/metrics and the API description', () => {
  const started = new Started();
  afterEach(async () => await started.end());

  async function samplesOf(router: RouterProcess): Promise<Sample[]> {
    const response = await fetch(`${router.admin.url}/metrics`, { headers: { authorization: `Bearer ${router.admin.token}` } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/plain');
    return readSamples(await response.text());
  }

  it('has every metric of the contract with its labels, and counts what happened', async () => {
    const holding = new Set<() => void>();
    const [p, other, d] = [await ScriptedEngine.start(), await ScriptedEngine.start(), await ScriptedEngine.start()];
    for (const engine of [p, other, d]) started.add(engine, (it) => it.stop());
    const router = await started.router(['--prefill', p.url, other.url, '--decode', d.url, '--retry-max-attempts', '2']);
    await router.admin.selectable({ prefill: 2, decode: 1 });
    for (let n = 0; n < 3; n += 1) expect((await router.post('/v1/completions', { model: 'm', prompt: 'the same prompt '.repeat(20) })).status).toBe(200);
    expect((await router.post('/v1/completions', { model: 'never heard of', prompt: 'x' })).status).toBe(404);
    await fetch(`${router.url}/some/unknown/path?with=query`);
    for (const engine of [p, other]) engine.handle = (_call, res) => answerJson(res, { error: { message: 'broken' } }, 500);
    expect((await router.post('/v1/completions', { model: 'm', prompt: 'x' })).status).toBe(500);
    for (const engine of [p, other]) engine.handle = (_call, res) => answerJson(res, completion('x'));
    d.handle = (_call, res) => {
      startEvents(res);
      res.write(event('one'));
      holding.add(() => res.end('data: [DONE]\n\n'));
    };
    const open = await router.post('/v1/completions', { model: 'm', prompt: 'x', stream: true });
    const gone = new AbortController();
    await router.post('/v1/completions', { model: 'm', prompt: 'y', stream: true }, { signal: gone.signal });
    gone.abort();
    await eventually('the abort is counted', async () => sumOf(await samplesOf(router), 'switchyard_client_aborts_total') === 1);

    const samples = await samplesOf(router);
    const ours = samples.filter(({ name }) => name.startsWith('switchyard_'));
    const fault: string[] = [];
    for (const [name, labels] of Object.entries(contract)) {
      const found = ours.filter((sample) => sample.name.replace(/_(bucket|sum|count)$/, '') === `switchyard_${name}` || sample.name === `switchyard_${name}`);
      if (found.length === 0) fault.push(`${name} is missing`);
      for (const sample of found) {
        const have = Object.keys(sample.labels).filter((label) => label !== 'le' && label !== 'quantile' && label !== 'stat');
        if (labels.some((label) => !have.includes(label))) fault.push(`${name} lacks labels: has ${have.join(',')}`);
        const extra = have.filter((label) => !labels.includes(label));
        if (extra.length > 0 && !name.startsWith('prefix_index')) fault.push(`${name} has more labels: ${extra.join(',')}`);
      }
    }
    expect(fault).toEqual([]);

    const route = { route: '/v1/completions' };
    // Three whole ones, and the stream whose client left after the head.
    expect(sumOf(samples, 'switchyard_requests_total', { ...route, model: 'm', status: '200' })).toBe(4);
    expect(sumOf(samples, 'switchyard_requests_total', { ...route, model: 'unknown', status: '404' })).toBe(1);
    expect(sumOf(samples, 'switchyard_requests_total', { route: 'other', status: '404' })).toBe(1);
    expect(sumOf(samples, 'switchyard_requests_total', { ...route, model: 'm', status: '500' })).toBe(1);
    expect(sumOf(samples, 'switchyard_request_duration_seconds_count', route)).toBeGreaterThanOrEqual(5);
    expect(sumOf(samples, 'switchyard_inflight_requests')).toBe(1);
    expect(sumOf(samples, 'switchyard_leases_live')).toBe(1);
    expect(sumOf(samples, 'switchyard_leases_leaked_total')).toBe(0);
    expect(sumOf(samples, 'switchyard_worker_load', { role: 'decode', endpoint: d.url })).toBe(1);
    expect(sumOf(samples, 'switchyard_worker_load', { role: 'prefill', endpoint: p.url })).toBe(0);
    expect(sumOf(samples, 'switchyard_worker_selectable')).toBe(3);
    expect(sumOf(samples, 'switchyard_worker_info', { role: 'prefill', endpoint: p.url, version: '0.11.0', group: '0.11.0' })).toBe(1);
    expect(sumOf(samples, 'switchyard_worker_processed_total', { role: 'prefill', endpoint: p.url })).toBe((await router.admin.worker('prefill', p.url))!.processed);
    expect(sumOf(samples, 'switchyard_placements_total', { policy: 'cache_aware' })).toBeGreaterThanOrEqual(6);
    expect(sumOf(samples, 'switchyard_prefix_index_covered_bytes', { role: 'prefill', model: 'm' })).toBeGreaterThan(200);
    expect(sumOf(samples, 'switchyard_prefix_index_hits_total')).toBeGreaterThanOrEqual(2);
    expect(sumOf(samples, 'switchyard_registrations_total', { kind: 'new' })).toBe(3);
    expect(sumOf(samples, 'switchyard_retries_total')).toBe(1);
    expect(sumOf(samples, 'switchyard_upstream_errors_total')).toBe(2);
    for (const name of ['process_resident_memory_bytes', 'process_cpu_seconds_total', 'process_start_time_seconds']) expect(sumOf(samples, name)).toBeGreaterThan(0);
    for (const end of holding) end();
    await open.text();
    await router.admin.quiet();
    expect(sumOf(await samplesOf(router), 'switchyard_leases_live')).toBe(0);
  });

  it('is stable over restarts of an engine, and bounded whatever clients name', async () => {
    const engine = started.add(await ScriptedEngine.start(), (it) => it.stop());
    const router = await started.router(['--worker-url', engine.url, '--health-check-interval-secs', '0.2']);
    const [before] = await router.admin.selectable({ regular: 1 });
    for (let n = 0; n < 5; n += 1) await router.post('/v1/completions', { model: 'm', prompt: String(n) });
    const count = (samples: readonly Sample[]): number => samples.filter(({ name }) => name === 'switchyard_requests_total').length;
    await router.post('/v1/completions', { model: 'made-up-0', prompt: 'x' });
    const once = count(await samplesOf(router));
    for (let n = 1; n < 50; n += 1) {
      await router.post('/v1/completions', { model: `made-up-${String(n)}`, prompt: 'x' });
    }
    expect(count(await samplesOf(router))).toBe(once);

    engine.startedAtSecs! += 100;
    await eventually('a new generation', async () => (await router.admin.worker('regular', engine.url))!.generation > before!.generation);
    await router.admin.selectable({ regular: 1 });
    const samples = await samplesOf(router);
    const info = samples.filter(({ name }) => name === 'switchyard_worker_info');
    expect(info.map(({ labels }) => [labels['endpoint'], labels['generation']])).toEqual([[engine.url, String((await router.admin.worker('regular', engine.url))!.generation)]]);
    expect(samples.filter(({ name }) => name === 'switchyard_worker_load')).toHaveLength(1);
  });

  it('departed workers show apart while they have work, and are gone after it', async () => {
    const holding = new Set<() => void>();
    const engine = started.add(
      await ScriptedEngine.start({
        handle: (_call, res) => {
          startEvents(res);
          res.write(event('one'));
          holding.add(() => res.end('data: [DONE]\n\n'));
        },
      }),
      (it) => it.stop(),
    );
    const router = await started.router(['--worker-url', engine.url, '--health-check-interval-secs', '0.2']);
    const [before] = await router.admin.selectable({ regular: 1 });
    const stream = await router.post('/v1/completions', { model: 'm', prompt: 'x', stream: true });
    await eventually('it streams', () => holding.size === 1);
    engine.startedAtSecs! += 100;
    await eventually('a new generation', async () => (await router.admin.worker('regular', engine.url))!.generation > before!.generation);
    const samples = await samplesOf(router);
    expect(sumOf(samples, 'switchyard_worker_load', { endpoint: engine.url, departed: '1' })).toBe(1);
    expect(samples.filter(({ name, labels }) => name === 'switchyard_worker_load' && labels['departed'] !== '1').map(({ value }) => value)).toEqual([0]);
    for (const end of holding) end();
    await stream.text();
    await eventually('it is gone', async () => (await samplesOf(router)).every(({ labels }) => labels['departed'] === undefined));
  });

  it('the API description is OpenAPI 3 and names every admin route with its answers', async () => {
    const router = await started.router();
    const description = (await router.admin.get('/api/openapi.json')) as { openapi: string; info: { title: string }; paths: Record<string, Record<string, { responses: object; requestBody?: object }>> };
    expect(description.openapi).toMatch(/^3\./);
    expect(description.info.title).toMatch(/switchyard/i);
    for (const [path, method] of [
      ['/api/v1/workers', 'get'],
      ['/api/v1/workers', 'post'],
      ['/api/v1/workers/{id}', 'get'],
      ['/api/v1/workers/{id}', 'delete'],
      ['/api/v1/workers/{id}/drain', 'post'],
      ['/api/v1/workers/{id}/undrain', 'post'],
      ['/api/v1/workers/{id}/evict', 'post'],
      ['/api/v1/endpoints/drain', 'post'],
      ['/api/v1/endpoints/undrain', 'post'],
      ['/api/v1/endpoints/cordon', 'post'],
      ['/api/v1/endpoints/uncordon', 'post'],
      ['/api/v1/drains', 'get'],
      ['/api/v1/quarantine', 'get'],
      ['/api/v1/departed', 'get'],
      ['/api/v1/cache', 'get'],
      ['/api/v1/cache/tree', 'get'],
      ['/api/v1/requests', 'get'],
      ['/api/v1/events', 'get'],
      ['/api/v1/overview', 'get'],
      ['/api/v1/config', 'get'],
      ['/api/v1/config', 'patch'],
      ['/api/v1/session', 'post'],
    ] as const) {
      const operation = description.paths[path]?.[method];
      expect([method, path, operation !== undefined && Object.keys(operation.responses).length > 0]).toEqual([method, path, true]);
    }
    expect(JSON.stringify(description.paths['/api/v1/workers/{id}/drain']?.['post']?.requestBody)).toContain('deadlineSecs');
    const page = await fetch(`${router.admin.url}/api/docs`, { headers: { authorization: `Bearer ${router.admin.token}` } });
    expect([page.status, page.headers.get('content-type')?.includes('text/html')]).toEqual([200, true]);
  });
});
