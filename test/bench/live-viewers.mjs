/**
 * What viewers of the live stream cost the router: CPU of its process with and without them, by turns.
 * Usage, after a build: node test/bench/live-viewers.mjs [--workers 200] [--viewers 20] [--rps 1000] [--secs 30] [--rounds 2]
 * With --heap-minutes N: the heaps of the router and of one dashboard page in Chromium, each minute, instead of CPU.
 *
 * The process runs the admin listener over a real cluster and places requests in it at the given rate, each with its
 * receipt; no engine is called, so that what is measured is not lost in the noise of relaying. Viewers are in a process
 * of their own.
 */
import 'reflect-metadata';

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { NestFactory } from '@nestjs/core';
import { io } from 'socket.io-client';

const options = Object.fromEntries(['workers', 'viewers', 'rps', 'secs', 'rounds', 'heap-minutes'].map((name) => [name, { type: 'string' }]));
const { values } = parseArgs({ options: { ...options, follow: { type: 'string' } } });
const number = (name, fallback) => Number(values[name] ?? fallback);
const [workers, viewers, rps, secs, rounds] = [number('workers', 200), number('viewers', 20), number('rps', 1_000), number('secs', 30), number('rounds', 2)];
const token = 'bench-token';
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

if (values.follow !== undefined) follow(values.follow);
else if (values['heap-minutes'] !== undefined) await watchHeaps(number('heap-minutes', 10));
else await measure();

/** The viewers: read everything, keep nothing. */
function follow(origin) {
  const seen = { deltas: 0, gaps: 0, bytes: 0 };
  for (let at = 0; at < viewers; at += 1) {
    let seq = -1;
    const socket = io(origin, { path: '/live', transports: ['websocket'], forceNew: true, auth: { token } });
    socket.on('snapshot', (snapshot) => (seq = snapshot.seq));
    socket.on('delta', ({ from, seq: to }) => {
      seen.deltas += 1;
      if (from !== seq) seen.gaps += 1;
      seq = to;
    });
    socket.on('connect', () => socket.io.engine.on('packet', ({ data }) => (seen.bytes += data?.length ?? 0)));
  }
  process.on('message', () => process.send(seen));
}

async function measure() {
  const router = await startRouter();
  const stopTraffic = startTraffic(router.cluster);
  await sleep(5_000);
  const alone = [];
  const watched = [];
  let seen;
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await cpuShare());
    const child = fork(fileURLToPath(import.meta.url), ['--follow', router.origin, '--viewers', String(viewers)]);
    await sleep(3_000);
    watched.push(await cpuShare());
    child.send('report');
    seen = await new Promise((resolve) => child.once('message', resolve));
    child.kill();
    await sleep(1_000);
  }
  stopTraffic();
  const mean = (shares) => shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const percent = (share) => `${(share * 100).toFixed(2)} %`;
  console.log(`${workers} workers, ${viewers} viewers, ${rps} requests/s, ${rounds} × ${secs} s each way`);
  console.log(`router CPU without viewers  ${percent(mean(alone))} of a core  (${alone.map(percent).join(', ')})`);
  console.log(`router CPU with viewers     ${percent(mean(watched))} of a core  (${watched.map(percent).join(', ')})`);
  console.log(`added by viewers            ${percent(mean(watched) - mean(alone))} of a core`);
  console.log(`last round, per viewer      ${(seen.deltas / viewers / (secs + 3)).toFixed(1)} deltas/s, ${Math.round(seen.bytes / viewers / (secs + 3) / 1024)} KiB/s, ${seen.gaps} gaps`);
  await router.close();
  process.exit(0);
}

/** Used heap after a collection, and the frames the page draws, once a minute: neither may grow. */
async function watchHeaps(minutes) {
  const [{ chromium }, { findChromium }] = await Promise.all([import('playwright-core'), import('../../scripts/setup.mjs')]);
  const router = await startRouter();
  const stopTraffic = startTraffic(router.cluster);
  const child = fork(fileURLToPath(import.meta.url), ['--follow', router.origin, '--viewers', String(viewers)]);
  const browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${router.origin}/#token=${token}`);
  const devtools = await page.context().newCDPSession(page);
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc');
  const mib = (bytes) => `${(bytes / 1_048_576).toFixed(1)} MiB`;
  for (let minute = 0; minute <= minutes; minute += 1) {
    const frames = await page.evaluate(
      () =>
        new Promise((resolve) => {
          let drawn = 0;
          const from = performance.now();
          const draw = () => {
            drawn += 1;
            if (performance.now() - from < 10_000) requestAnimationFrame(draw);
            else resolve((drawn * 1_000) / (performance.now() - from));
          };
          requestAnimationFrame(draw);
        }),
    );
    await devtools.send('HeapProfiler.collectGarbage');
    const { usedSize } = await devtools.send('Runtime.getHeapUsage');
    collect();
    console.log(`minute ${minute}: router ${mib(process.memoryUsage().heapUsed)}, page ${mib(usedSize)}, ${frames.toFixed(1)} frames/s`);
    if (minute < minutes) await sleep(50_000);
  }
  stopTraffic();
  child.kill();
  await browser.close();
  await router.close();
  process.exit(0);
}

async function cpuShare() {
  const [from, fromMs] = [process.cpuUsage(), performance.now()];
  await sleep(secs * 1_000);
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000 / (performance.now() - fromMs);
}

async function startRouter() {
  const at = (path) => import(new URL(`../../dist/apps/router/${path}`, import.meta.url).href);
  const [{ adminAdapter, prepareAdminApp }, { AdminModule }, { ConfigModule }, { loadConfig }, { CLUSTER }, { StoreModule }, { MemoryStore }, { createLogger, NestLog }, { TelemetryModule }] =
    await Promise.all(
      ['admin/admin-app.js', 'admin/admin.module.js', 'config/config.module.js', 'config/load-config.js', 'pools/pools.service.js', 'store/store.module.js', 'store/memory.store.js', 'telemetry/logging.js', 'telemetry/telemetry.module.js'].map(at),
    );
  const loaded = loadConfig(['--no-health-gate', '--data-dir', 'memory', '--admin-token', token], {}, () => '');
  const logger = createLogger({ level: 'warn', format: 'json', terminal: false });
  class BenchModule {}
  const module = { module: BenchModule, imports: [ConfigModule.with(loaded), StoreModule.with(new MemoryStore(), logger), TelemetryModule.with(logger), AdminModule] };
  const app = await NestFactory.create(module, adminAdapter(), { logger: new NestLog(logger), abortOnError: false });
  await prepareAdminApp(app);
  await app.listen(0, '127.0.0.1');
  return { cluster: app.get(CLUSTER), origin: `http://127.0.0.1:${app.getHttpServer().address().port}`, close: () => app.close() };
}

/** Half of the workers prefill, half decode; each pings every 3 s. Requests live for about half a second. */
function startTraffic(cluster) {
  const ping = (index) =>
    cluster.register({
      source: 'zmq',
      role: index % 2 === 0 ? 'prefill' : 'decode',
      endpoint: `http://10.1.${index >> 8}.${index & 255}:8000`,
      zmqAddress: `10.1.${index >> 8}.${index & 255}:14579`,
      instance: 'one',
      group: null,
      connector: { kind: 'nixl', evidence: 'label' },
      transferMode: null,
      startedAtSecs: null,
      models: ['meta-llama/Llama-3.3-70B-Instruct'],
      ttlMs: 10_000,
    });
  const stepMs = 10;
  let key = 1;
  let steps = 0;
  const later = [];
  const begin = () => {
    const { scheduler } = cluster;
    const requestKey = key++;
    scheduler.openRequest({ requestKey, requestId: `chatcmpl-${requestKey}`, route: '/v1/chat/completions', model: 'meta-llama/Llama-3.3-70B-Instruct', stream: true });
    const blocks = 16;
    const prefixKey = {
      count: blocks,
      lo: Uint32Array.from({ length: blocks }, (_, block) => Math.imul((requestKey % 500) + 1, 0x9e3779b1) ^ block),
      hi: Uint32Array.from({ length: blocks }, (_, block) => Math.imul(requestKey % 500, 0xc2b2ae35) + block),
      ends: Float64Array.from({ length: blocks }, (_, block) => (block + 1) * 64),
    };
    const placed = scheduler.reserve({ requestKey, model: 'meta-llama/Llama-3.3-70B-Instruct', shape: 'generation', prefixKey, sessionKey: null, exclude: [], failedPairs: [] });
    if (placed.kind !== 'pair') throw new Error(placed.kind);
    const { grantId } = placed;
    at(8 + (key % 5), () => {
      scheduler.prefillDone(grantId, { connector: 'nixl', engineId: null });
      scheduler.beginDecode(grantId, []);
    });
    at(14 + (key % 5), () => scheduler.firstByte(grantId, 'decode'));
    at(50 + (key % 11), () => {
      scheduler.end(grantId, { phase: 'decode', result: 'succeeded', status: 200, fault: null, timings: { prefillMs: 80, handoffMs: 2, firstByteMs: 140 } });
      scheduler.closeRequest(requestKey, { status: 200, outcome: 'ok', usage: { promptTokens: 300, completionTokens: 40 }, reportedCachedTokens: null });
    });
  };
  const at = (inSteps, act) => (later[(steps + inSteps) % 128] ??= []).push(act);
  for (let index = 0; index < workers; index += 1) ping(index);
  cluster.tick();
  const timer = setInterval(() => {
    steps += 1;
    const due = later[steps % 128] ?? [];
    later[steps % 128] = [];
    for (const act of due) act();
    for (let count = 0; count < (rps * stepMs) / 1_000; count += 1) begin();
    if (steps % 25 === 0) cluster.tick();
    for (let index = steps % 300; index < workers; index += 300) ping(index);
  }, stepMs);
  return () => clearInterval(timer);
}
