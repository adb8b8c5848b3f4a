const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.5 MiB`. */
export function bytes(value: number): string {
  const step = value <= 0 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log2(value) / 10));
  return `${trim(value / 1024 ** step)} ${byteUnits[step] ?? 'B'}`;
}

/** `0.4 ms`, `120 ms`, `1.2 s`, `4 min 10 s`, `3 h 5 min`, `2 d 4 h`; `–` when there is none. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1000) return `${ms < 10 ? trim(ms) : Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)} s`;
  const secs = Math.round(ms / 1000);
  if (secs < 3600) return twoParts(Math.floor(secs / 60), 'min', secs % 60, 's');
  const mins = Math.floor(secs / 60);
  if (mins < 1440) return twoParts(Math.floor(mins / 60), 'h', mins % 60, 'min');
  return twoParts(Math.floor(mins / 1440), 'd', Math.floor((mins % 1440) / 60), 'h');
}

const twoParts = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;

/** `1,234`, `12.3k`, `4.5M`. */
export function count(value: number): string {
  if (value < 10_000) return Math.round(value).toLocaleString('en');
  return value < 1e6 ? `${trim(value / 1000)}k` : `${trim(value / 1e6)}M`;
}

/** A rate with as many digits as help: `0.25`, `3.2`, `1,200`. */
export const rate = (value: number): string => (value < 10_000 ? Number(value.toPrecision(value < 1 ? 2 : 3)).toLocaleString('en') : count(value));

/** `12 %`; `–` when there was nothing to measure. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined) return '–';
  const value = share * 100;
  return `${value > 0 && value < 10 ? trim(value) : Math.round(value)} %`;
}

/** `1 request`, `2 requests`. */
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** `14:02:11` on the viewer's clock. */
export const clock = (at: number | string): string => new Date(at).toLocaleTimeString('en-GB');

/** Date and time to the millisecond, with the zone. */
export function absolute(at: number | string): string {
  const date = new Date(at);
  const zone = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${date.toLocaleDateString('en-CA')} ${date.toLocaleTimeString('en-GB')}.${String(date.getMilliseconds()).padStart(3, '0')} ${zone}`;
}

/** An endpoint without its scheme: `10.0.0.1:8000`. */
export const shortEndpoint = (endpoint: string): string => endpoint.replace(/^https?:\/\//, '').replace(/\/$/, '');

const trim = (value: number): string => (value >= 100 ? value.toFixed(0) : String(Number(value.toFixed(value >= 10 ? 1 : 2))));
