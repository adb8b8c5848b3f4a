import fc from 'fast-check';
import { StartTimeScanner } from './start-time-scanner.js';

const exposition = `# HELP python_gc_objects_collected_total Objects collected during gc
python_gc_objects_collected_total{generation="0"} 8182.0
# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.7e+09
process_open_fds 45.0
`;

function scan(text: string, sizes: readonly number[] = []): number | null {
  const scanner = new StartTimeScanner();
  const bytes = Buffer.from(text);
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    const found = scanner.push(bytes.subarray(at, at + size));
    if (found !== null) return found;
    at += size;
  }
  return scanner.end();
}

it.each([
  [exposition, 1.7e9],
  ['process_start_time_seconds 1762470000.25', 1_762_470_000.25],
  ['process_start_time_seconds{pid="7",é="x"} 1762470000.25 1762470001000\n', 1_762_470_000.25],
  ['', null],
  ['process_start_time_seconds_total 7\n', null],
  ['x_process_start_time_seconds 7\n', null],
  ['process_start_time_seconds NaN\n', null],
  ['process_start_time_seconds\n', null],
  ['# process_start_time_seconds 7\n', null],
])('%#', (text, expected) => {
  expect(scan(text)).toBe(expected);
});

it('finds it however the text is cut', () => {
  fc.assert(fc.property(fc.array(fc.nat({ max: 60 })), (sizes) => scan(exposition, sizes) === 1.7e9));
});

it('keeps no endless line', () => {
  const scanner = new StartTimeScanner();
  for (let n = 0; n < 1000; n++) expect(scanner.push(Buffer.alloc(10_000, 0x61))).toBeNull();
  expect(scanner.push(Buffer.from('\nprocess_start_time_seconds 7\n'))).toBe(7);
});
