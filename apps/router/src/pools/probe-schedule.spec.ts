import { type ProbeTarget } from '@switchyard/core';
import { type EngineFact, type ProbeResult } from './health-prober.js';
import { ProbeSchedule, type ProbeRoundReport, type ProbeScheduleOptions } from './probe-schedule.js';

const good: ProbeResult = { health: 'ok', status: 200, version: '1', models: [{ id: 'm' }], startedAtSecs: 7, load: null, finishedAll: true };

const busy = { running: 3, waiting: 1, kvUsage: 0.5 };

interface Round {
  readonly endpoint: string;
  readonly signal: AbortSignal | undefined;
  readonly at: number;
  readonly what: readonly EngineFact[];
  finish(result?: ProbeResult): Promise<void>;
}

function schedule({ random = 0.5, maxConcurrent, intervalMs = 5_000, loadIntervalMs = null }: Partial<Pick<ProbeScheduleOptions, 'intervalMs' | 'loadIntervalMs' | 'maxConcurrent'>> & { random?: number } = {}) {
  const state = { now: 0, targets: [] as ProbeTarget[] };
  const rounds: Round[] = [];
  const reports: [string, ProbeRoundReport][] = [];
  /** Engines asked for their load alone, and when. */
  const asked: [string, number][] = [];
  const loads: [string, unknown][] = [];
  const probes = new ProbeSchedule({
    prober: {
      metrics: (endpoint) => {
        asked.push([endpoint, state.now]);
        return Promise.resolve({ startedAtSecs: null, load: busy });
      },
      probe: (endpoint, { what, signal }) =>
        new Promise((resolve) => {
          const finish = async (result = good) => {
            resolve(result);
            await new Promise((settled) => setImmediate(settled));
          };
          rounds.push({ endpoint, signal, at: state.now, what, finish });
        }),
    },
    targets: () => state.targets,
    report: (workerId, report) => reports.push([workerId, report]),
    reportLoad: (workerId, load) => loads.push([workerId, load]),
    intervalMs,
    loadIntervalMs,
    monotonicMs: () => state.now,
    random: () => random,
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
  });
  const tickAt = (now: number) => {
    state.now = now;
    probes.tick();
  };
  return { state, rounds, reports, asked, loads, probes, tickAt };
}

const worker = (n: number, urgent = false, leaving = false): ProbeTarget => ({ workerId: `prefill-${n}`, endpoint: `http://10.0.0.${n}:8000`, urgent, leaving });

it('probes a new worker in the tick that brings it, and reports what was found', async () => {
  const { state, rounds, reports, tickAt } = schedule();
  state.targets = [worker(1, true)];
  tickAt(100);
  expect(rounds.map(({ endpoint }) => endpoint)).toEqual(['http://10.0.0.1:8000']);
  state.now = 170;
  await rounds[0]!.finish();
  expect(reports).toEqual([['prefill-1', { startedAtMs: 100, healthy: true, refused: false, health: 'ok', status: 200, version: '1', models: ['m'], modelEntries: [{ id: 'm' }], startedAtSecs: 7 }]]);
});

it.each(['failed', 'timeout', 'refused'] as const)('calls a round that was %s not healthy', async (health) => {
  const { state, rounds, reports, tickAt } = schedule();
  state.targets = [worker(1)];
  tickAt(0);
  await rounds[0]!.finish({ ...good, health });
  expect(reports[0]?.[1]).toMatchObject({ healthy: false, health });
});

it('asks an urgent worker at every tick and others once an interval', async () => {
  const { state, rounds, tickAt } = schedule();
  state.targets = [worker(1, true), worker(2)];
  for (let now = 0; now < 10_000; now += 250) {
    if (now === 2_000) state.targets = [worker(1, false), worker(2)];
    tickAt(now);
    for (const round of rounds) await round.finish();
  }
  expect(rounds.filter(({ endpoint }) => endpoint.includes('.1:')).map(({ at }) => at)).toEqual([0, 250, 500, 750, 1000, 1250, 1500, 1750, 6750]);
  expect(rounds.filter(({ endpoint }) => endpoint.includes('.2:')).map(({ at }) => at)).toEqual([0, 5000]);
});

it.each([
  [0, 4_500],
  [0.999, 5_499],
])('moves rounds by a tenth of the interval: %d', async (random, dueAt) => {
  const { state, rounds, tickAt } = schedule({ random });
  state.targets = [worker(1)];
  tickAt(0);
  await rounds[0]!.finish();
  tickAt(dueAt - 2);
  expect(rounds).toHaveLength(1);
  tickAt(dueAt + 1);
  expect(rounds).toHaveLength(2);
});

it('never asks one worker twice at a time', async () => {
  const { state, rounds, tickAt } = schedule();
  state.targets = [worker(1, true)];
  for (const now of [0, 250, 10_000]) tickAt(now);
  expect(rounds).toHaveLength(1);
  await rounds[0]!.finish();
  tickAt(10_250);
  expect(rounds).toHaveLength(2);
});

it('keeps to its number of rounds, urgent ones first, and goes on as they end', async () => {
  const { state, rounds, tickAt } = schedule({ maxConcurrent: 2 });
  state.targets = [worker(1), worker(2), worker(3), worker(4, true)];
  tickAt(0);
  expect(rounds.map(({ endpoint }) => endpoint)).toEqual(['http://10.0.0.4:8000', 'http://10.0.0.1:8000']);
  await rounds[1]!.finish();
  await rounds[0]!.finish();
  expect(rounds.slice(2).map(({ endpoint }) => endpoint)).toEqual(['http://10.0.0.2:8000', 'http://10.0.0.3:8000']);
});

it('calls off the round of a worker that is gone, and reports it not', async () => {
  const { state, rounds, reports, tickAt } = schedule();
  state.targets = [worker(1)];
  tickAt(0);
  state.targets = [];
  tickAt(250);
  expect(rounds[0]!.signal?.aborted).toBe(true);
  await rounds[0]!.finish();
  state.targets = [worker(2)];
  tickAt(500);
  expect(rounds.at(-1)!.endpoint).toBe('http://10.0.0.2:8000');
  expect(reports).toEqual([]);
});

it('is over when stopped', async () => {
  const { state, rounds, reports, probes, tickAt } = schedule({ maxConcurrent: 1 });
  state.targets = [worker(1), worker(2)];
  tickAt(0);
  probes.stop();
  await rounds[0]!.finish();
  tickAt(60_000);
  expect(rounds).toHaveLength(1);
  expect(rounds[0]!.signal?.aborted).toBe(true);
  expect(reports).toEqual([]);
});

describe('the load of engines', () => {
  const over = async (untilMs: number, { tickAt, rounds }: ReturnType<typeof schedule>): Promise<void> => {
    for (let now = 0; now <= untilMs; now += 250) {
      tickAt(now);
      for (const round of rounds) await round.finish({ ...good, load: round.what.includes('load') ? busy : null });
      await new Promise((settled) => setImmediate(settled));
    }
  };

  it('is asked for in the rounds there are anyway', async () => {
    const probes = schedule({ loadIntervalMs: 5_000 });
    probes.state.targets = [worker(1)];
    await over(15_000, probes);
    expect(probes.rounds.map(({ at, what }) => [at, what.includes('load')])).toEqual([[0, true], [5_000, true], [10_000, true], [15_000, true]]);
    expect(probes.asked).toEqual([]);
    expect(probes.loads).toEqual(Array.from({ length: 4 }, () => ['prefill-1', busy]));
  });

  it('is not asked for in every round where those are frequent', async () => {
    const probes = schedule({ loadIntervalMs: 5_000, intervalMs: 1_000 });
    probes.state.targets = [worker(1)];
    await over(9_000, probes);
    expect(probes.rounds.filter(({ what }) => what.includes('load')).map(({ at }) => at)).toEqual([0, 4_000, 8_000]);
    expect(probes.rounds).toHaveLength(10);
    expect(probes.asked).toEqual([]);
  });

  it('is asked for between rounds where those are rare', async () => {
    const probes = schedule({ loadIntervalMs: 5_000, intervalMs: 30_000 });
    probes.state.targets = [worker(1)];
    await over(16_000, probes);
    expect(probes.rounds.map(({ at }) => at)).toEqual([0]);
    expect(probes.asked.map(([, at]) => at)).toEqual([5_000, 10_000, 15_000]);
    expect(probes.loads).toHaveLength(4);
  });

  it('is asked for every second while its worker is to be stopped', async () => {
    const probes = schedule({ loadIntervalMs: 5_000, intervalMs: 30_000 });
    probes.state.targets = [worker(1, false, true)];
    await over(3_000, probes);
    expect(probes.asked.map(([, at]) => at)).toEqual([1_000, 2_000, 3_000]);
  });

  it('is not asked for when that is turned off', async () => {
    const probes = schedule({ loadIntervalMs: null, intervalMs: 30_000 });
    probes.state.targets = [worker(1), worker(2, false, true)];
    await over(40_000, probes);
    expect(probes.rounds.some(({ what }) => what.includes('load'))).toBe(false);
    expect([probes.asked, probes.loads]).toEqual([[], []]);
  });
});
