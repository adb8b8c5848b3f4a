import { AdminHarness } from '../admin/testing/admin-harness.js';
import { Metrics } from './metrics.js';

describe('metrics', () => {
  let admin: AdminHarness;
  let metrics: Metrics;
  beforeEach(async () => {
    admin = await AdminHarness.start();
    metrics = admin.app.get(Metrics);
  });
  afterEach(() => admin.close());

  const series = async (name: string): Promise<string[]> => {
    const text = await metrics.registry.metrics();
    return text.split('\n').filter((line) => line.startsWith(`switchyard_${name}`) && !line.startsWith('#'));
  };

  it('tell of workers, also of departed ones with work, and of none that are gone', async () => {
    const url = 'http://10.0.0.1:8000';
    const worker = admin.register('regular', url, { group: 'g1' });
    const labels = `role="regular",endpoint="${url}"`;
    const grant = admin.begin(1);
    expect(await series('worker_load')).toEqual([`switchyard_worker_load{${labels}} 1`]);
    expect(await series('worker_selectable')).toEqual([`switchyard_worker_selectable{${labels}} 1`]);
    expect(await series('worker_holds')).toEqual([`switchyard_worker_holds{${labels},kind="kvOut"} 0`, `switchyard_worker_holds{${labels},kind="bound"} 0`]);
    expect(await series('worker_info')).toEqual([
      `switchyard_worker_info{${labels},worker="${worker}",generation="${worker.split('-')[1]!}",group="g1",version=""} 1`,
    ]);

    admin.cluster.registry.evict(admin.cluster.registry.get('regular', url)!);
    expect(await series('worker_load')).toEqual([`switchyard_worker_load{${labels},departed="1"} 1`]);
    admin.register('regular', url);
    expect(await series('worker_load')).toEqual([`switchyard_worker_load{${labels}} 0`, `switchyard_worker_load{${labels},departed="1"} 1`]);
    expect(await series('worker_processed_total')).toEqual([
      `switchyard_worker_processed_total{${labels}} 0`,
      `switchyard_worker_processed_total{${labels},departed="1"} 1`,
    ]);
    expect(await series('leases_live')).toEqual(['switchyard_leases_live 1']);
    admin.finish(1, grant);
    expect(await series('worker_load')).toEqual([`switchyard_worker_load{${labels}} 0`]);
    expect(await series('leases_live')).toEqual(['switchyard_leases_live 0']);
  });

  it('count placements, attempts, waiting and leaks', async () => {
    admin.register('regular', 'http://10.0.0.1:8000');
    admin.finish(1, admin.begin(1));
    admin.begin(2);
    admin.cluster.scheduler.closeRequest(2, { status: null, outcome: 'client_gone', usage: null, reportedCachedTokens: null });
    admin.cluster.scheduler.openRequest({ requestKey: 3, requestId: 'waits', route: '/v1/completions', model: 'm', stream: false });
    expect(await series('queue_depth')).toEqual(['switchyard_queue_depth 1']);
    admin.cluster.scheduler.sweepLedger();
    expect(await series('leases_leaked_total')).toEqual(['switchyard_leases_leaked_total 1']);
    expect(admin.logLines.join('')).toContain('outlived its request');
    expect(await series('placements_total')).toEqual(['switchyard_placements_total{policy="cache_aware",reason="only_candidate"} 2']);
    expect(await series('attempts_total')).toEqual([
      'switchyard_attempts_total{phase="single",result="succeeded"} 1',
      'switchyard_attempts_total{phase="single",result="cancelled"} 1',
    ]);
    expect((await series('queue_wait_seconds_count'))[0]).toBe('switchyard_queue_wait_seconds_count 2');
  });

  it('name only models that engines serve', async () => {
    admin.register('regular', 'http://10.0.0.1:8000');
    const finished = { route: '/v1/completions', error: null, durationMs: 100 } as const;
    for (const model of ['m', 'made-up', null]) {
      metrics.dataPlane.requestStarted();
      metrics.dataPlane.requestFinished({ ...finished, model, status: model === null ? null : 200 });
    }
    expect(await series('requests_total')).toEqual([
      'switchyard_requests_total{route="/v1/completions",model="m",status="200"} 1',
      'switchyard_requests_total{route="/v1/completions",model="unknown",status="200"} 1',
      'switchyard_requests_total{route="/v1/completions",model="unknown",status="499"} 1',
    ]);
    metrics.dataPlane.requestStarted();
    expect(await series('inflight_requests')).toEqual(['switchyard_inflight_requests 1']);
    const { scheduler } = admin.cluster;
    scheduler.openRequest({ requestKey: 9, requestId: 'r', route: '/v1/completions', model: 'invented', stream: false });
    const key = { count: 1, lo: Uint32Array.of(7), hi: Uint32Array.of(8), ends: Float64Array.of(64) };
    admin.register('regular', 'http://10.0.0.2:8000', { models: null });
    scheduler.reserve({ requestKey: 9, model: 'invented', shape: 'single', prefixKey: key, sessionKey: null, exclude: [], failedPairs: [] });
    expect(await series('prefix_index_covered_bytes')).toContain('switchyard_prefix_index_covered_bytes{role="regular",model="unknown"} 64');
  });

  it('report what the data plane tells, under its closed labels', async () => {
    metrics.watchDataPlane({ bufferedBytes: () => 4_096 });
    metrics.dataPlane.firstByte('/v1/completions', 30);
    metrics.dataPlane.phaseDuration('prefill', 20);
    metrics.dataPlane.retry('transport');
    metrics.dataPlane.upstreamError('stale_connection');
    metrics.dataPlane.clientAbort('stream');
    metrics.controlPlane.counted('heartbeat');
    metrics.controlPlane.placementTook(0.000_02);
    for (const line of [
      'time_to_first_byte_seconds_bucket{le="0.05",route="/v1/completions"} 1',
      'phase_duration_seconds_count{phase="prefill"} 1',
      'retries_total{reason="transport"} 1',
      'upstream_errors_total{kind="stale_connection"} 1',
      'client_aborts_total{phase="stream"} 1',
      'registrations_total{kind="heartbeat"} 1',
      'placement_duration_seconds_bucket{le="0.000025"} 1',
      'buffered_bytes 4096',
    ]) {
      expect(await series(line.split('{')[0]!.split(' ')[0]!)).toContain(`switchyard_${line}`);
    }
    const text = await metrics.registry.metrics();
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    expect(text).toMatch(/^switchyard_event_loop_delay_seconds\{quantile="0.99"\} \d/m);
  });
});
