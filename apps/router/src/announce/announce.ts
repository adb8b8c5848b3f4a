import { type CommandIo, exitCodes } from '../command.js';
import { HealthProber } from '../pools/health-prober.js';
import { type AnnounceOptions, announceUsage, readAnnounceOptions } from './announce-options.js';
import { drainBeforeStop } from './drain-before-stop.js';
import { Pinger } from './pinger.js';

const pingIntervalMs = 3_000;
const healthTimeoutMs = 2_000;

/** `switchyard announce`: ends at SIGTERM or SIGINT; a second signal ends it at once. Gives the exit code. */
export async function runAnnounce(argv: readonly string[], env: CommandIo['env'] = process.env): Promise<number> {
  const options = readAnnounceOptions(argv, env);
  if (options === null) {
    process.stdout.write(`${announceUsage.join('\n')}\n`);
    return exitCodes.ok;
  }
  const end = new AbortController();
  const onSignal = () => {
    if (end.signal.aborted) process.exit(exitCodes.timedOut);
    end.abort();
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    return await announce(options, end.signal, (line) => process.stderr.write(`announce: ${line}\n`));
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  }
}

/** Pings until `end`, drains if it may, pings meanwhile; exit codes as `drainBeforeStop` gives them, 0 without a drain. */
export async function announce(
  options: AnnounceOptions,
  end: AbortSignal,
  log: (line: string) => void,
  intervalMs = pingIntervalMs,
): Promise<number> {
  const prober = new HealthProber({ healthPath: '/health', healthTimeoutMs, connectTimeoutMs: healthTimeoutMs, engineApiKey: null });
  const pinger = new Pinger({ options, prober, log, intervalMs });
  const pinging = pinger.run();
  try {
    await Promise.race([aborted(end), pinging]);
    const { admin, advertised: endpoint, role, drainWaitSecs: waitSecs } = options;
    if (admin === null) {
      log('the pings end; the router keeps the engine until its registration expires (give --admin and --token to drain it first)');
      return exitCodes.ok;
    }
    log(`draining ${endpoint} as ${role}`);
    const code = await drainBeforeStop({ access: admin, endpoint, role, waitSecs, log });
    log(code === exitCodes.ok ? 'drained' : 'not drained');
    return code;
  } finally {
    pinger.stop();
    await pinging;
    await prober.close();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
