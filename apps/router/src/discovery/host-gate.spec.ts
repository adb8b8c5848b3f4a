import { HostGate, type HostVerdict, systemLookup } from './host-gate.js';
import { defaultAllowList } from './testing/default-allow-list.js';

interface Pending {
  readonly host: string;
  answer(addresses: readonly string[]): void;
  fail(message: string): void;
}

function gate() {
  const asked: Pending[] = [];
  const clock = { now: 0 };
  const hosts = new HostGate({
    allow: defaultAllowList(),
    monotonicMs: () => clock.now,
    lookup: (host) =>
      new Promise((resolve, reject) => asked.push({ host, answer: resolve, fail: (message) => reject(new Error(message)) })),
  });
  const judged: [string, HostVerdict['ok'] | string][] = [];
  const judge = (host: string, name = host) => hosts.judge(host, (verdict) => judged.push([name, verdict.ok || verdict.reason]));
  return { hosts, asked, judged, judge, clock };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('judges addresses at once', () => {
  const { judge, judged, asked } = gate();
  for (const host of ['10.0.0.1', 'fd00::1', '8.8.8.8', '169.254.169.254', 'fe80::1']) judge(host);
  expect(judged).toEqual([
    ['10.0.0.1', true],
    ['fd00::1', true],
    ['8.8.8.8', 'forbidden_host'],
    ['169.254.169.254', 'forbidden_host'],
    ['fe80::1', 'forbidden_host'],
  ]);
  expect(asked).toEqual([]);
});

it('takes a name only if every address of it may be called', async () => {
  const { judge, judged, asked } = gate();
  judge('good');
  judge('mixed');
  asked[0]!.answer(['10.0.0.1', 'fd00::1']);
  asked[1]!.answer(['10.0.0.1', '169.254.169.254']);
  await settled();
  expect(judged).toEqual([
    ['good', true],
    ['mixed', 'forbidden_host'],
  ]);
});

it('refuses names without an address', async () => {
  const { judge, judged, asked } = gate();
  judge('empty');
  judge('unknown');
  asked[0]!.answer([]);
  asked[1]!.fail('ENOTFOUND');
  await settled();
  expect(judged).toEqual([
    ['empty', 'unresolvable_host'],
    ['unknown', 'unresolvable_host'],
  ]);
});

it('keeps the order within a host and lets other hosts pass', async () => {
  const { judge, judged, asked, hosts } = gate();
  judge('slow', 'slow 1');
  judge('slow', 'slow 2');
  judge('10.0.0.1');
  judge('quick');
  expect(hosts.pending).toBe(2);
  asked.find(({ host }) => host === 'quick')!.answer(['10.0.0.2']);
  await settled();
  judge('slow', 'slow 3');
  asked.find(({ host }) => host === 'slow')!.answer(['10.0.0.3']);
  await settled();
  judge('slow', 'slow 4');
  expect(judged.map(([name]) => name)).toEqual(['10.0.0.1', 'quick', 'slow 1', 'slow 2', 'slow 3', 'slow 4']);
  expect(asked).toHaveLength(2);
  expect(hosts.pending).toBe(0);
});

it('remembers an answer for half a minute, a refusal for ten seconds', async () => {
  const { judge, asked, clock } = gate();
  judge('good');
  judge('bad');
  asked[0]!.answer(['10.0.0.1']);
  asked[1]!.fail('ENOTFOUND');
  await settled();
  clock.now = 9_999;
  judge('good');
  judge('bad');
  expect(asked).toHaveLength(2);
  clock.now = 10_000;
  judge('bad');
  expect(asked).toHaveLength(3);
  clock.now = 30_000;
  judge('good');
  expect(asked).toHaveLength(4);
});

it('bounds what waits, in hosts and within one', () => {
  const { judge, judged, asked } = gate();
  for (let n = 0; n < 300; n++) judge(`host-${n}.example`);
  expect(judged).toHaveLength(300 - 256);
  for (let n = 0; n < 100; n++) judge('host-0.example');
  expect(judged).toHaveLength(300 - 256 + 100 - 63);
  expect(new Set(judged.map(([, verdict]) => verdict))).toEqual(new Set(['busy']));
  expect(asked).toHaveLength(2);
});

it('answers nobody after it was closed', async () => {
  const { judge, judged, asked, hosts } = gate();
  judge('late');
  hosts.close();
  asked[0]!.answer(['10.0.0.1']);
  await settled();
  expect(judged).toEqual([]);
});

it('resolves localhost with the system', async () => {
  expect(await systemLookup('localhost')).toContain('127.0.0.1');
});
