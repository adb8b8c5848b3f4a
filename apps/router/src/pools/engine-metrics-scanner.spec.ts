import fc from 'fast-check';

import { type EngineMetrics, EngineMetricsScanner } from './engine-metrics-scanner.js';

const exposition = `# HELP python_gc_objects_collected_total Objects collected during gc
python_gc_objects_collected_total{generation="0"} 8182.0
# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.7e+09
process_open_fds 45.0
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a}b"} 3.0
vllm:num_requests_running{engine="1",model_name="a}b"} 4.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="a}b"} 1.0
vllm:num_requests_waiting{engine="1",model_name="a}b"} 0.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 99.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="a}b"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="a}b"} 0.75
vllm:prefix_cache_queries_total{engine="0"} 5
`;
const all: EngineMetrics = { startedAtSecs: 1.7e9, load: { running: 7, waiting: 1, kvUsage: 0.5 } };

function scan(text: string, sizes: readonly number[] = [], wantsLoad = true): EngineMetrics {
  const scanner = new EngineMetricsScanner(wantsLoad);
  const bytes = Buffer.from(text);
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    if (scanner.push(bytes.subarray(at, at + size))) break;
    at += size;
  }
  return scanner.end();
}

describe('the start time', () => {
  it.each([
    [exposition, 1.7e9],
    ['process_start_time_seconds 1762470000.25', 1_762_470_000.25],
    ['process_start_time_seconds{pid="7",é="x"} 1762470000.25 1762470001000\n', 1_762_470_000.25],
    ['', null],
    ['process_start_time_seconds_total 7\n', null],
    ['x_process_start_time_seconds 7\n', null],
    ['process_start_time_seconds NaN\n', null],
    ['process_start_time_seconds 0\n', null],
    ['process_start_time_seconds\n', null],
    ['# process_start_time_seconds 7\n', null],
  ])('%#', (text, expected) => {
    expect(scan(text, [], false)).toEqual({ startedAtSecs: expected, load: null });
  });
});

describe('the load', () => {
  it.each([
    ['engines added up, their caches averaged', exposition, all.load],
    ['an older version', 'vllm:num_requests_running 2\nvllm:num_requests_waiting 0\nvllm:gpu_cache_usage_perc 0.1\nx 1\n', { running: 2, waiting: 0, kvUsage: 0.1 }],
    ['both names of the cache', 'vllm:gpu_cache_usage_perc 0.1\nvllm:kv_cache_usage_perc 0.2\n', { running: null, waiting: null, kvUsage: 0.2 }],
    ['no end of the last line', 'vllm:num_requests_running{engine="0"} 5', { running: 5, waiting: null, kvUsage: null }],
    ['what is no number', 'vllm:num_requests_running NaN\nvllm:num_requests_waiting -1\nvllm:kv_cache_usage_perc +Inf\n', null],
    ['another server', 'go_goroutines 7\n', null],
  ])('of %s', (_, text, expected) => {
    expect(scan(text).load).toEqual(expected);
  });
});

it('finds everything however the text is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 60 })), (sizes) => {
      expect(scan(exposition, sizes)).toEqual(all);
    }),
  );
});

it('reads no further than it has to', () => {
  const only = new EngineMetricsScanner(false);
  expect(only.push(Buffer.from('process_start_time_seconds 7\n'))).toBe(true);
  const load = new EngineMetricsScanner(true);
  const upToCache = exposition.indexOf('vllm:prefix');
  expect(load.push(Buffer.from(exposition.slice(0, upToCache)))).toBe(false);
  expect(load.push(Buffer.from(exposition.slice(upToCache)))).toBe(true);
});

it('keeps no endless line', () => {
  const scanner = new EngineMetricsScanner(false);
  for (let n = 0; n < 1000; n++) expect(scanner.push(Buffer.alloc(10_000, 0x61))).toBe(false);
  expect(scanner.push(Buffer.from('\nprocess_start_time_seconds 7\n'))).toBe(true);
});
